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
    return hop;
}

}  // namespace

Result<Told> ask_about(Client& client, std::uint64_t id, const std::string& topic, const Json& payload) {
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
            found[id_at(row, "asked")] = {id_at(row, "id"), id_at(row, "above"), id_at(row, "child"),
                                          id_at(row, "below")};
        }
    }
    return found;
}

std::uint64_t id_here(Client& client, std::uint64_t id) {
    const auto ids = ids_of(client, {id});
    const auto known = ids.find(id);
    return known != ids.end() ? known->second.id : id;
}

Result<Origin> origin_of(Client& client, std::uint64_t id) {
    const auto ids = ids_of(client, {id});
    const auto known = ids.find(id);
    if (known == ids.end() || known->second.above != id || known->second.id == id) {
        return Origin{std::nullopt, known == ids.end() ? id : known->second.id};
    }
    auto above = Client::open(client.attribute("parent-uri").value_or(""));
    if (!above) {
        return above.error();
    }
    return Origin{std::move(*above), id};
}

}  // namespace weir::cmd
