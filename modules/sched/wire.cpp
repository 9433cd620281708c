// SPDX-License-Identifier: LGPL-3.0-only
// Owns: building and reading of scheduler payloads. RFC 27, RFC 11 (KVS values), RFC 4648 (base64).
#include "modules/sched/wire.hpp"

#include <array>
#include <set>

#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/json/kvs_value.hpp"
#include "libfairshare/base/json/reader.hpp"

namespace weir::sched {

R r_of(const Scheduler::Start& start, const HostNames& hosts) {
    R r;
    r.resources = start.resources;
    r.starttime = to_seconds(start.start);
    r.expiration = start.end == never ? 0. : to_seconds(start.end);
    for (const NodeResources& node : start.resources.nodes) {
        if (const auto host = hosts.find(node.rank); host != hosts.end()) {
            r.hosts.push_back(host->second);
        }
    }
    if (r.hosts.size() != r.resources.nodes.size()) {
        r.hosts.clear();
    }
    return r;
}

Instant end_of(const R& r) {
    return r.expiration > 0. && r.expiration < 9.2e12 ? instant_from_seconds(r.expiration) : never;
}

Json commit_payload(std::span<const std::pair<std::string, Json>> key_values) {
    Json ops = Json::array();
    for (const auto& [key, value] : key_values) {
        ops.append(kvs_put(key, value.dump()));
    }
    return kvs_commit(std::move(ops));
}

Json lookup_payload(std::string_view key) {
    Json payload = Json::object();
    payload.set("key", key).set("namespace", "primary").set("flags", 0);
    return payload;
}

Result<std::string> looked_up(const Json& answer) {
    return json::read_json(answer.get(), "kvs.lookup", [](const json::Value& document) {
        const json::Value value = document.at("val");
        if (value.at("type").string() != "val") {
            value.fail("must be a value");
        }
        return value.take(base64_decode(value.at("data").string()));
    });
}

Result<std::vector<std::pair<std::uint32_t, NodeLoad>>> loads_of(json_t* nodes, const HostNames& hosts) {
    return json::read_json(nodes, "nodes", [&hosts](const json::Value& list) {
        std::vector<std::pair<std::uint32_t, NodeLoad>> loads;
        for (std::size_t i = 0; i < list.size(); i++) {
            const json::Value entry = list[i];
            const auto part = [&entry](const char* key, double otherwise, double most) {
                const auto value = entry.find(key);
                const double number = value ? value->number() : otherwise;
                if (!(number >= 0. && number <= most)) {
                    value->fail("must be from 0 to " + std::to_string(static_cast<std::int64_t>(most)));
                }
                return number;
            };
            const NodeLoad load{part("cpu_load", 0., 1.), part("cpu_speed", ResourceWeights{}.cpu_speed_min, 1000.),
                                part("ram_usage", 0., 1.), part("ram_size", 0., 1e9)};
            const auto ranks = entry.find("ranks");
            const IdSet wanted = ranks ? ranks->take(IdSet::parse(ranks->string())) : IdSet{};
            const auto names = ranks ? std::vector<std::string>{}
                                     : entry.at("hosts").take(hostlist_decode(entry.at("hosts").string()));
            const std::set<std::string_view> by_name(names.begin(), names.end());
            for (const auto& [rank, host] : hosts) {
                if (wanted.contains(rank) || by_name.contains(host)) {
                    loads.emplace_back(rank, load);
                }
            }
        }
        return loads;
    });
}

Result<Priorities> priorities_of(json_t* jobs, const char* what) {
    return json::read_json(jobs, what, [](const json::Value& list) {
        Priorities pairs;
        for (std::size_t i = 0; i < list.size(); i++) {
            const json::Value pair = list[i];
            if (pair.size() != 2) {
                pair.fail("must be [id, priority]");
            }
            pairs.emplace_back(JobId{static_cast<std::uint64_t>(pair[0].integer(INT64_MIN, INT64_MAX))},
                               static_cast<std::uint32_t>(pair[1].integer(0, priority_expedited)));
        }
        return pairs;
    });
}

std::string r_key(JobId id) {
    std::array<char, 64> key{};
    WEIR_CHECK(flux_job_kvs_key(key.data(), static_cast<int>(key.size()), id.value, "R") >= 0);
    return key.data();
}

Json alloc_response(JobId id, AllocType type) {
    Json response = Json::object();
    response.set("id", id.value).set("type", static_cast<int>(type));
    return response;
}

Json annotations(const Scheduler::Annotation& annotation) {
    Json sched = Json::object();
    sched.set("t_estimate",
              annotation.estimate ? Json::own(json_real(to_seconds(*annotation.estimate))) : Json::own(json_null()));
    sched.set("reason_pending", annotation.reason);
    Json out = Json::object();
    out.set("sched", std::move(sched));
    return out;
}

Json why_answer(JobId id, const Waiting& waiting, const Forecast& forecast) {
    Json out = Json::object();
    out.set("id", id.value)
        .set("reason", name_of(waiting.reason))
        .set("place", waiting.place)
        .set("text", waiting.text);
    if (waiting.behind) {
        out.set("behind", waiting.behind->value);
    }
    const std::pair<const char*, std::optional<Instant>> times[] = {
        {"behind_start", waiting.behind_at}, {"t_estimate", forecast.start}, {"not_before", forecast.not_before}};
    for (const auto& [name, at] : times) {
        if (at) {
            out.set(name, to_seconds(*at));
        }
    }
    return out;
}

Json no_annotations() {
    Json sched = Json::object();
    sched.set("t_estimate", Json::own(json_null())).set("reason_pending", Json::own(json_null()));
    Json out = Json::object();
    out.set("sched", std::move(sched));
    return out;
}

}  // namespace weir::sched
