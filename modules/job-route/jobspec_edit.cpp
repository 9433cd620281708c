// SPDX-License-Identifier: LGPL-3.0-only
// Owns: jobspec_edit.hpp.
#include "modules/job-route/jobspec_edit.hpp"

#include <array>

#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::route {

namespace {

/// Of attributes.system.weir: a copy keeps what the submitter requested, and that an account was filled in.
constexpr std::array kept_keys{"memory_per_slot", "default_bank"};
constexpr int constraint_depth_max = 64;  ///< as the schedulers read it

Result<Json> parse_jobspec(const std::string& text) {
    auto jobspec = Json::parse(text);
    if (!jobspec) {
        return Error{std::errc::invalid_argument, "jobspec: " + jobspec.error().message};
    }
    json_t* system = nullptr;
    if (json_unpack(jobspec->get(), "{s:{s:o}}", "attributes", "system", &system) < 0 || !json_is_object(system)) {
        return Error{std::errc::invalid_argument, "jobspec: attributes.system is missing"};
    }
    return jobspec;
}

json_t* system_of(const Json& jobspec) {
    return json_object_get(json_object_get(jobspec.get(), "attributes"), "system");
}

/// RFC 31.
void change_ranks(json_t* constraint, const ResourceMap& resources, int depth) {
    for (const char* key : {"and", "or", "not"}) {
        std::size_t index = 0;
        json_t* part = nullptr;
        json_array_foreach(json_object_get(constraint, key), index, part) {
            if (depth < constraint_depth_max) {
                change_ranks(part, resources, depth + 1);
            }
        }
    }
    json_t* lists = json_object_get(constraint, "ranks");
    std::size_t index = 0;
    json_t* list = nullptr;
    IdSet ranks;
    json_array_foreach(lists, index, list) {
        const auto some = IdSet::parse(json_is_string(list) ? json_string_value(list) : "?");
        if (!some) {
            return;
        }
        ranks.add(*some);
    }
    const auto below = resources.ranks_below(ranks);
    if (json_is_array(lists) && below) {
        json_array_clear(lists);
        if (!below->empty()) {
            json_array_append_new(lists, json_string(below->encode().c_str()));
        }
    }
}

}  // namespace

std::string with_ranks(const std::string& jobspec, const ResourceMap& resources) {
    if (jobspec.find("\"ranks\"") == std::string::npos) {
        return jobspec;
    }
    const auto parsed = parse_jobspec(jobspec);
    if (!parsed) {
        return jobspec;
    }
    change_ranks(json_object_get(system_of(*parsed), "constraints"), resources, 0);
    return parsed->dump();
}

Result<std::string> with_output_names(const std::string& jobspec, const Marks& marks) {
    auto parsed = parse_jobspec(jobspec);
    if (!parsed) {
        return parsed.error();
    }
    const json_t* options = json_object_get(json_object_get(system_of(*parsed), "shell"), "options");
    for (const char* stream : {"stdout", "stderr"}) {
        json_t* file = json_object_get(json_object_get(options, "output"), stream);
        if (const char* path = json_string_value(json_object_get(file, "path"))) {
            json_object_set_new(file, "path", json_string(filled_in(path, marks).c_str()));
        }
    }
    return parsed->dump();
}

bool has_environment(const std::string& jobspec) {
    FlatJson reader;
    return bool(reader.read(jobspec)["attributes"]["system"]["environment"]);
}

Result<std::string> with_environment(const std::string& jobspec, const std::string& J) {
    const std::size_t begin = J.find('.');
    const std::size_t end = begin != std::string::npos ? J.find('.', begin + 1) : std::string::npos;
    if (end == std::string::npos) {
        return Error{std::errc::invalid_argument, "J: must be header.payload.signature"};
    }
    const auto payload = base64_decode(std::string_view(J).substr(begin + 1, end - begin - 1));
    if (!payload) {
        return payload.error();
    }
    if (!has_environment(*payload)) {
        return jobspec;
    }
    const auto original = parse_jobspec(*payload);
    auto parsed = parse_jobspec(jobspec);
    if (!original || !parsed) {
        return (!original ? original : parsed).error();
    }
    json_object_set(system_of(*parsed), "environment", json_object_get(system_of(*original), "environment"));
    return parsed->dump();
}

Result<std::string> localize(const Order& submit, const std::set<std::string>& own_queues) {
    auto jobspec = parse_jobspec(submit.jobspec);
    if (!jobspec) {
        return jobspec.error();
    }
    json_t* system = system_of(*jobspec);
    Json weir = Json::object();
    for (const char* key : kept_keys) {
        if (const json_t* value = json_object_get(json_object_get(system, "weir"), key)) {
            weir.set(key, Json::ref(value));
        }
    }
    weir.set("jobid", submit.id.value).set("userid", submit.userid);
    if (!submit.queue.empty()) {
        weir.set("queue", submit.queue);
    }
    if (!submit.output.empty()) {
        weir.set("output", submit.output);
    }
    if (submit.submit != Instant{}) {
        weir.set("submit", to_seconds(submit.submit));
    }
    Json owned = Json::ref(system);
    owned.set("weir", std::move(weir));
    json_object_del(system, "dependencies");
    json_object_del(system, "alloc-bypass");
    const char* queue = json_string_value(json_object_get(system, "queue"));
    if (queue != nullptr && own_queues.count(queue) == 0) {
        json_object_del(system, "queue");
    }
    return jobspec->dump();
}

}  // namespace weir::route
