// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Answers. See answers.hpp.
#include "modules/job-route/answers.hpp"

#include <algorithm>

namespace weir::route {
namespace {

constexpr std::size_t asked_max = 256;  ///< in flight; the parent has at most as many

Reply no_answer(int errnum, const std::string& why) {
    Reply reply;
    reply.errnum = errnum;
    reply.error = why;
    return reply;
}

/// The id that the parent has for the job of the only row in an answer to `job-route.ids`.
Reply whose_id(const Json& answer) {
    const Json rows = answer.at("jobs");
    const Json row = Json::ref(json_array_get(rows.get(), 0));
    Reply reply;
    reply.id = static_cast<std::uint64_t>(row.integer_at("above").value_or(0));
    if (reply.id == 0) {
        reply = no_answer(ENOENT, "no job of the parent has this id here");
    }
    return reply;
}

}  // namespace

Answers::Answers(flux_t* h, const ChildLink& link, Send send) : h_(h), link_(link), send_(std::move(send)) {}

void Answers::asked(const std::string& session, json_t* questions) {
    std::size_t index = 0;
    json_t* value = nullptr;
    json_array_foreach(questions, index, value) {
        const auto question = decode_question(value);
        if (!question) {
            flux::log(h_, LOG_ERR, "a question of the parent: " + question.error().message);
            continue;
        }
        const flux::Caught caught = flux::catching([&] { ask(session, *question); });
        if (caught.errnum != 0) {
            send(session, question->number, no_answer(caught.errnum, caught.message));
        }
    }
}

/// Asked as the owner: the parent has checked the user, and the copy here belongs to the owner.
void Answers::ask(const std::string& session, const Question& question) {
    const LocalId local = question.topic == whose_id_topic ? LocalId{} : link_.local_of(question.id);
    if (local.value == 0 && question.topic != whose_id_topic) {
        throw flux::Failure(ENOENT, "this partition does not know the job");
    }
    if (asked_.size() >= asked_max) {
        throw flux::Failure(EBUSY, "too many questions are on their way in the partition");
    }
    flux::Future future = ask_here(question, local);
    flux_future_t* key = future.get();
    flux::then<&Answers::on_answer>(key, this);
    asked_.emplace(key, Asked{std::move(future), session, question.number, local});
}

flux::Future Answers::ask_here(const Question& question, LocalId local) {
    Json payload = Json::object();
    if (local.value == 0) {
        Json ids = Json::array();
        ids.append(question.id.value);
        payload.set("ids", std::move(ids));
        return flux::rpc(h_, flux::service_name(h_, "job-route") + ".ids", payload);
    }
    payload.set("id", local.value).set("topic", question.topic).set("payload", question.payload.share());
    return flux::rpc(h_, flux::service_name(h_, "job-route") + ".ask", payload);
}

void Answers::on_answer(flux_future_t* f) {
    const auto found = asked_.find(f);
    if (found == asked_.end()) {
        return;
    }
    const Asked done = std::move(found->second);
    asked_.erase(found);
    Reply reply;
    const flux::Caught caught = flux::catching([&] {
        const Json body = flux::rpc_get(f, "job-route");
        if (done.local.value == 0) {
            reply = whose_id(body);
            return;
        }
        reply = flux::value_or_throw(decode_reply(body.get()));
        to_parents_ids(reply.answer.get());
        reply.id = done.local.value;
    });
    if (caught.errnum != 0) {
        reply = no_answer(caught.errnum, caught.message);
        reply.id = done.local.value;
    }
    send(done.session, done.number, reply);
}

void Answers::send(const std::string& session, std::uint64_t number, const Reply& reply) {
    Json message = Json::object();
    message.set("number", number).set("body", encode(reply));
    send_(session, std::move(message));
}

/// The ids in an answer (the job, the first of the queue, those ahead of it) become the parent's. A job that the parent
/// does not know keeps its id here, and the answer says so.
void Answers::to_parents_ids(json_t* answer) const {
    const auto translate = [this](json_t* object, const char* key) {
        json_t* id = json_object_get(object, key);
        if (!json_is_integer(id) || json_integer_value(id) == 0) {  // 0: of no job
            return;
        }
        const JobId above = link_.parent_of(LocalId{static_cast<std::uint64_t>(json_integer_value(id))});
        if (above.value != 0) {
            json_object_set_new(object, key, json_integer(static_cast<json_int_t>(above.value)));
        } else {
            json_object_set_new(object, "is_below", json_true());
        }
    };
    translate(answer, "id");
    translate(answer, "behind");
    translate(json_object_get(answer, "job"), "id");
    std::size_t index = 0;
    json_t* ahead = nullptr;
    json_array_foreach(json_object_get(answer, "ahead"), index, ahead) {
        translate(ahead, "id");
    }
}

}  // namespace weir::route
