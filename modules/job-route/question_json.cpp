// SPDX-License-Identifier: LGPL-3.0-only
// Owns: question_json.hpp.
#include "modules/job-route/question_json.hpp"

#include <algorithm>
#include <array>

#include "modules/job-route/messages_json.hpp"

namespace weir::route {
namespace {

constexpr std::array<QuestionKind, 6> kinds{{
    {"job-list.list-id", Audience::everybody},
    {"job-manager.queue-status", Audience::everybody},
    {"job-priority.explain", Audience::everybody},
    {"sched.why", Audience::everybody},
    {"job-route.locate", Audience::everybody},
    {"job-exec.output", Audience::user_of_the_job, true},
}};

Error bad_question(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

Json list_of(const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) {
        list.append(name);
    }
    return list;
}

Result<Reply::Hop> decode_hop(json_t* value) {
    json_int_t child = 0;
    json_int_t id = 0;
    json_t* serves = nullptr;
    json_t* may_start_in = nullptr;
    const char* partition = "";
    if (json_unpack(value, "{s:I s:I s:o s?s s?o}", "child", &child, "id", &id, "serves", &serves, "partition",
                    &partition, "may_start_in", &may_start_in) < 0) {
        return bad_question("a hop of an answer needs child, id and serves");
    }
    auto names = decode_names(serves, "serves of a hop");
    if (!names) {
        return names.error();
    }
    auto others = may_start_in != nullptr ? decode_names(may_start_in, "may_start_in of a hop")
                                          : Result<std::vector<std::string>>(std::vector<std::string>());
    if (!others) {
        return others.error();
    }
    return Reply::Hop{static_cast<std::uint64_t>(child), static_cast<std::uint64_t>(id), std::move(names).value(),
                      partition, std::move(others).value()};
}

}  // namespace

const QuestionKind* question_kind(std::string_view topic) {
    const auto* found =
        std::find_if(kinds.begin(), kinds.end(), [topic](const QuestionKind& kind) { return kind.topic == topic; });
    return found == kinds.end() ? nullptr : found;
}

std::string question_topics() {
    std::string text;
    for (const QuestionKind& kind : kinds) {
        text += (text.empty() ? "" : ", ") + std::string(kind.topic);
    }
    return text;
}

Json encode(const Question& question) {
    Json value = Json::object();
    value.set("number", question.number).set("id", question.id.value).set("topic", question.topic);
    value.set("payload", question.payload ? question.payload.share() : Json::object());
    return value;
}

Result<Question> decode_question(json_t* value) {
    json_int_t number = 0;
    json_int_t id = 0;
    const char* topic = nullptr;
    json_t* payload = nullptr;
    if (json_unpack(value, "{s:I s:I s:s s:o}", "number", &number, "id", &id, "topic", &topic, "payload", &payload) <
            0 ||
        !json_is_object(payload)) {
        return bad_question("a question needs number, id, topic and payload");
    }
    return Question{static_cast<std::uint64_t>(number), JobId{static_cast<std::uint64_t>(id)}, topic,
                    Json::ref(payload)};
}

Json encode(const Reply& reply) {
    Json hops = Json::array();
    for (const Reply::Hop& hop : reply.hops) {
        Json entry = Json::object();
        entry.set("child", hop.child).set("id", hop.id).set("serves", list_of(hop.serves));
        if (!hop.partition.empty()) {
            entry.set("partition", hop.partition);
        }
        if (!hop.may_start_in.empty()) {
            entry.set("may_start_in", list_of(hop.may_start_in));
        }
        hops.append(std::move(entry));
    }
    Json value = Json::object();
    value.set("id", reply.id).set("hops", std::move(hops));
    if (reply.errnum != 0) {
        value.set("errnum", reply.errnum).set("error", reply.error);
    } else {
        value.set("answer", reply.answer ? reply.answer.share() : Json::object());
    }
    return value;
}

void hide_jobs(json_t* answer, const std::function<bool(JobId)>& is_told) {
    const auto is_shown = [&is_told](const json_t* object, const char* key) {
        const json_t* id = json_object_get(object, key);
        return json_object_get(object, "is_below") == nullptr &&
               is_told(JobId{static_cast<std::uint64_t>(json_integer_value(id))});
    };
    if (json_object_get(answer, "behind") != nullptr && !is_shown(answer, "behind")) {
        json_object_del(answer, "behind");
    }
    const char* policy = json_string_value(json_object_get(answer, "policy"));
    const bool names_nobody = policy != nullptr && std::string_view(policy) == "multifactor";
    std::size_t index = 0;
    json_t* ahead = nullptr;
    json_array_foreach(json_object_get(answer, "ahead"), index, ahead) {
        if (is_shown(ahead, "id")) {
            continue;
        }
        json_object_set_new(ahead, "id", json_null());
        for (const char* key : {"user", "account", "queue"}) {
            json_object_set_new(ahead, key, json_string(""));
        }
        if (!names_nobody) {  // the reasons of another order name accounts
            json_object_set_new(ahead, "why", json_string(""));
        }
    }
}

Result<Reply> decode_reply(json_t* value) {
    Reply reply;
    json_int_t id = 0;
    json_t* hops = nullptr;
    json_t* answer = nullptr;
    const char* error = "";
    if (json_unpack(value, "{s:I s:o s?o s?i s?s}", "id", &id, "hops", &hops, "answer", &answer, "errnum",
                    &reply.errnum, "error", &error) < 0 ||
        !json_is_array(hops) || json_array_size(hops) > answer_depth_max) {
        return bad_question("an answer needs id, and hops of at most " + std::to_string(answer_depth_max) +
                            " instances");
    }
    if (reply.errnum < 0 || (reply.errnum == 0) != json_is_object(answer)) {
        return bad_question("an answer needs either an object as answer, or errnum and error");
    }
    std::size_t index = 0;
    json_t* element = nullptr;
    json_array_foreach(hops, index, element) {
        auto hop = decode_hop(element);
        if (!hop) {
            return hop.error();
        }
        reply.hops.push_back(std::move(hop).value());
    }
    reply.id = static_cast<std::uint64_t>(id);
    reply.answer = reply.errnum == 0 ? Json::ref(answer) : Json();
    reply.error = error;
    return reply;
}

}  // namespace weir::route
