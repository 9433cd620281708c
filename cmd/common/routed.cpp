// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the requests behind routed.hpp.
#include "cmd/common/routed.hpp"

#include "cmd/common/reader.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t ids_max = 1000;  ///< that job-route takes in one request

Hop hop_of(const json_t* entry) {
    Hop hop{id_at(entry, "child"), id_at(entry, "id"), {}, text_at(entry, "partition")};
    for (const json_t* queue : items_at(entry, "serves")) {
        hop.serves +=
            (hop.serves.empty() ? "" : ", ") + std::string(json_is_string(queue) ? json_string_value(queue) : "");
    }
    for (const json_t* name : items_at(entry, "may_start_in")) {
        hop.may_start_in.emplace_back(json_is_string(name) ? json_string_value(name) : "");
    }
    return hop;
}

/// Errors: there is no parent (ENOENT), or of opening it.
Result<Client> open_parent(Client& client) {
    const std::string uri = client.attribute("parent-uri").value_or("");
    return uri.empty() ? Error{std::errc::no_such_file_or_directory, "this instance has no parent"} : Client::open(uri);
}

/// The id here of a job that an instance above the parent names so; nothing where the parent cannot be opened.
std::optional<std::uint64_t> id_from_above(Client& client, std::uint64_t id) {
    auto parent = open_parent(client);
    const auto instance = parse_job(client.attribute("jobid").value_or(""));
    if (!parent || !instance) {
        return std::nullopt;
    }
    const std::uint64_t id_there = id_here(*parent, id);
    const auto ids = ids_of(*parent, {id_there});
    const auto known = ids.find(id_there);
    return known != ids.end() && known->second.child == *instance && known->second.below != 0
               ? std::optional(known->second.below)
               : std::nullopt;
}

Result<Told> ask_by_id_here(Client& client, std::uint64_t id, const std::string& topic, const Json& payload) {
    Json request = Json::object();
    request.set("id", id).set("topic", topic).set("payload", payload ? payload.share() : Json::object());
    const auto reply = client.call("job-route.ask", request);
    if (!reply) {
        return reply.error();
    }
    Told told;
    for (const json_t* hop : items_at(reply->get(), "hops")) {
        told.hops.push_back(hop_of(hop));
    }
    if (const std::int64_t errnum = integer_at(reply->get(), "errnum"); errnum != 0) {
        told.error = Error{static_cast<std::errc>(errnum), text_at(reply->get(), "error")};
    } else {
        told.answer = Json::ref(json_object_get(reply->get(), "answer"));
    }
    return told;
}

}  // namespace

Json may_start_in(const std::vector<Hop>& hops) {
    Json names = Json::array();
    for (const Hop& hop : hops) {
        for (const std::string& name : hop.may_start_in) {
            names.append(name);
        }
    }
    return json_array_size(names.get()) > 0 ? std::move(names) : Json();
}

Result<Told> ask_about(Client& client, std::uint64_t id, const std::string& topic, const Json& payload) {
    auto told = ask_by_id_here(client, id, topic, payload);
    if (told || told.error().code != std::errc::no_such_file_or_directory) {
        return told;
    }
    const auto known = id_from_above(client, id);
    return known ? ask_by_id_here(client, *known, topic, payload) : std::move(told);
}

std::map<std::uint64_t, JobIds> ids_of(Client& client, const std::vector<std::uint64_t>& ids) {
    std::map<std::uint64_t, JobIds> found;
    for (std::size_t begin = 0; begin < ids.size(); begin += ids_max) {
        Json list = Json::array();
        for (std::size_t i = begin; i < ids.size() && i < begin + ids_max; i++) {
            list.append(ids[i]);
        }
        Json request = Json::object();
        request.set("ids", std::move(list));
        const auto answer = client.call("job-route.ids", request);
        if (!answer) {
            return found;
        }
        for (const json_t* row : items_at(answer->get(), "jobs")) {
            JobIds& job = found[id_at(row, "asked")];
            job = {id_at(row, "id"), id_at(row, "above"), id_at(row, "child"), id_at(row, "below")};
            if (json_object_get(row, "userid") != nullptr) {
                job.userid = static_cast<std::uint32_t>(integer_at(row, "userid"));
            }
            job.is_unknown = json_is_true(json_object_get(row, "unknown"));
        }
    }
    return found;
}

Result<std::vector<Job>> list_users_jobs(Client& client, JobQuery query) {
    const auto wanted = query.userid;
    const std::int64_t limit = query.limit;
    const bool is_child = !client.attribute("parent-uri").value_or("").empty();
    if (is_child && wanted) {
        query.userid.reset();
        query.limit = 0;
    }
    std::vector<Job> jobs;
    std::vector<std::uint64_t> ids;
    const auto done = list_jobs(client, query, [&](const Job& job) {
        ids.push_back(job.id);
        jobs.push_back(job);
        jobs.back().annotations = nullptr;  // borrowed from the answer
    });
    if (!done) {
        return done.error();
    }
    if (is_child) {
        const auto known = ids_of(client, ids);
        for (Job& job : jobs) {
            const auto found = known.find(job.id);
            job.userid = found != known.end() ? found->second.userid.value_or(job.userid) : job.userid;
        }
    }
    std::erase_if(jobs, [&wanted](const Job& job) { return wanted && job.userid != *wanted; });
    if (limit != 0 && static_cast<std::int64_t>(jobs.size()) > limit) {
        jobs.resize(static_cast<std::size_t>(limit));
    }
    return jobs;
}

std::uint64_t id_here(Client& client, std::uint64_t id) {
    const auto ids = ids_of(client, {id});
    const auto known = ids.find(id);
    if (known == ids.end()) {
        return id;
    }
    return known->second.is_unknown ? id_from_above(client, id).value_or(id) : known->second.id;
}

Result<Origin> origin_of(Client& client, std::uint64_t id) {
    const auto ids = ids_of(client, {id});
    const auto known = ids.find(id);
    const bool is_of_parent = known != ids.end() && known->second.above == id && known->second.id != id;
    const bool is_unknown = known != ids.end() && known->second.is_unknown;
    if (!is_of_parent && !is_unknown) {
        return Origin{std::nullopt, known == ids.end() ? id : known->second.id};
    }
    auto parent = open_parent(client);
    if (!parent) {
        return is_of_parent ? Result<Origin>(parent.error()) : Origin{std::nullopt, id};
    }
    auto origin = is_of_parent ? Origin{std::nullopt, id} : origin_of(*parent, id);
    if (origin && !origin->instance) {
        origin->instance = std::move(*parent);
    }
    return origin;
}

std::optional<Origin> origin_above(Client& client, std::uint64_t id) {
    const auto ids = ids_of(client, {id});
    const auto known = ids.find(id);
    if (known == ids.end() || known->second.id != id || known->second.above == 0) {
        return std::nullopt;
    }
    auto parent = open_parent(client);
    return parent ? std::optional(Origin{std::move(*parent), known->second.above}) : std::nullopt;
}

}  // namespace weir::cmd
