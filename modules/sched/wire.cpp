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
namespace {

constexpr std::int64_t order_max = std::int64_t{1} << 60;  // the sum of two fits
constexpr int lookup_current = 2;                          // FLUX_JOB_LOOKUP_CURRENT
constexpr double seconds_max = 9.2e12;                     // an Instant holds it

}  // namespace

R r_of(const Scheduler::Start& start, const HostNames& hosts, const NodeProperties& properties) {
    R r;
    r.resources = start.resources;
    r.starttime = to_seconds(start.start);
    r.expiration = expected(start.end) ? to_seconds(start.end) : 0.;
    for (const NodeResources& node : start.resources.nodes) {
        if (const auto host = hosts.find(node.rank); host != hosts.end()) {
            r.hosts.push_back(host->second);
        }
    }
    if (r.hosts.size() != r.resources.nodes.size()) {
        r.hosts.clear();
    }
    r.properties = properties_of(r.resources, properties);
    return r;
}

Instant end_of_instance(const R& r) {
    return r.expiration > 0. && r.expiration < seconds_max ? instant_from_seconds(r.expiration) : never;
}

Instant end_of_job(const R& r) {
    const Instant end = end_of_instance(r);
    const bool has_start = r.starttime >= 0. && r.starttime < seconds_max;
    return end == never && has_start ? believed_end(instant_from_seconds(r.starttime), limit_max) : end;
}

Json commit_payload(std::span<const std::pair<std::string, Json>> key_values) {
    Json ops = Json::array();
    for (const auto& [key, value] : key_values) {
        ops.append(kvs_put(key, value.dump()));
    }
    return kvs_commit(std::move(ops));
}

Json removal_payload(std::span<const JobId> jobs) {
    Json ops = Json::array();
    for (const JobId id : jobs) {
        ops.append(kvs_unlink(r_key(id)));
    }
    return kvs_commit(std::move(ops));
}

Json current_r_payload(JobId id) {
    Json keys = Json::array();
    keys.append("R");
    Json payload = Json::object();
    payload.set("id", id.value).set("keys", std::move(keys)).set("flags", lookup_current);
    return payload;
}

Json allocation_payload(JobId id) {
    Json attrs = Json::array();
    attrs.append("R");
    Json payload = Json::object();
    payload.set("id", id.value).set("attrs", std::move(attrs));
    return payload;
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

Result<std::optional<OrderChange>> order_of(json_t* payload) {
    return json::read_json(payload, "sched.order", [](const json::Value& order) -> std::optional<OrderChange> {
        if (json_object_size(order.get()) == 0) {
            return std::nullopt;
        }
        const auto id_of = [](const json::Value& id) {
            return JobId{static_cast<std::uint64_t>(id.integer(INT64_MIN, INT64_MAX))};
        };
        const auto rows_of = [&order](const char* key, std::size_t width) {
            json::Value numbers = order.at(key);
            if (numbers.size() % width != 0) {
                numbers.fail("must have " + std::to_string(width) + " numbers for each entry");
            }
            return numbers;
        };
        const auto group_of = [](const json::Value& group) {
            return static_cast<std::uint32_t>(group.integer(0, UINT32_MAX));
        };
        const auto number_of = [](const json::Value& number) { return number.integer(-order_max, order_max); };
        OrderChange change;
        change.is_all = order.at("all").boolean();
        change.bits = static_cast<int>(order.at("bits").integer(0, 31));
        const json::Value gone = order.at("gone");
        for (std::size_t i = 0; i < gone.size(); i++) {
            change.gone.push_back(id_of(gone[i]));
        }
        const json::Value jobs = rows_of("jobs", 3);
        for (std::size_t i = 0; i < jobs.size(); i += 3) {
            change.jobs.push_back({id_of(jobs[i]), {group_of(jobs[i + 1]), number_of(jobs[i + 2])}});
        }
        const json::Value groups = rows_of("groups", 2);
        for (std::size_t i = 0; i < groups.size(); i += 2) {
            change.groups.emplace_back(group_of(groups[i]), number_of(groups[i + 1]));
        }
        return change;
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
    if (forecast.is_too_far_back) {
        out.set("is_too_far_back", true);
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
