// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see drains.hpp.
#include "modules/job-route/drains.hpp"

#include <string_view>

#include "libfairshare/base/json/r.hpp"

namespace weir::route {
namespace {

/// Drains of a parent are recognised by it, also after a restart.
constexpr std::string_view mark_above = "drained above";

bool is_from_above(const std::string& reason) {
    return reason.starts_with(mark_above);
}

}  // namespace

std::string reason_below(const std::string& reason) {
    return is_from_above(reason) ? reason : std::string(mark_above) + (reason.empty() ? "" : ": " + reason);
}

DrainPlan plan_drains(const Drains& present, const Drains& wanted) {
    DrainPlan plan;
    for (const auto& [rank, reason] : wanted) {
        const auto found = present.find(rank);
        const std::string text = reason_below(reason);
        if (found == present.end()) {
            plan.drain[text].add(rank);
        } else if (is_from_above(found->second) && found->second != text) {
            plan.replace[text].add(rank);
        }
    }
    for (const auto& [rank, reason] : present) {
        if (is_from_above(reason) && wanted.count(rank) == 0) {
            plan.undrain.add(rank);
        }
    }
    return plan;
}

Json encode_drains(const Drains& drains) {
    std::map<std::string, IdSet> by_reason;
    for (const auto& [rank, reason] : drains) {
        by_reason[reason].add(rank);
    }
    Json value = Json::object();
    for (const auto& [reason, ranks] : by_reason) {
        value.set(ranks.encode().c_str(), reason);
    }
    return value;
}

Result<Drains> decode_drains(const json_t* value) {
    if (!json_is_object(value)) {
        return Error{std::errc::protocol_error, "drained nodes: no object"};
    }
    Drains drains;
    std::uint64_t count = 0;
    const char* key = nullptr;
    json_t* entry = nullptr;
    json_object_foreach(const_cast<json_t*>(value), key, entry) {
        const auto ranks = IdSet::parse(key);
        if (!ranks || (count += ranks->count()) > r_nodes_max) {
            return Error{std::errc::protocol_error, std::string("drained nodes: \"") + key +
                                                        "\": " + (ranks ? "too many ranks" : ranks.error().message)};
        }
        const char* reason = json_string_value(json_is_object(entry) ? json_object_get(entry, "reason") : entry);
        ranks->each([&](std::uint32_t rank) { drains[rank] = reason != nullptr ? reason : ""; });
    }
    return drains;
}

std::int64_t free_cores(const ResourceSet& nodes, const ResourceSet& allocated) {
    std::int64_t cores = 0;
    auto held = allocated.nodes.begin();
    for (const NodeResources& node : nodes.nodes) {
        while (held != allocated.nodes.end() && held->rank < node.rank) {
            ++held;
        }
        IdSet free = node.cores;
        if (held != allocated.nodes.end() && held->rank == node.rank) {
            free.remove(held->cores);
        }
        cores += static_cast<std::int64_t>(free.count());
    }
    return cores;
}

}  // namespace weir::route
