// SPDX-License-Identifier: LGPL-3.0-only
// Owns: resource_map.hpp.
#include "modules/job-route/resource_map.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "libsched/json/r.hpp"

namespace weir::route {
namespace {

std::vector<std::uint32_t> members(const IdSet& set) {
    std::vector<std::uint32_t> ids;
    set.each([&ids](std::uint32_t id) { ids.push_back(id); });
    return ids;
}

/// The members of `to` that stand where `some` stands in `from`; none when the shapes differ.
std::optional<IdSet> moved(const IdSet& some, const IdSet& from, const IdSet& to) {
    const auto source = members(from);
    const auto target = members(to);
    IdSet result;
    if (some.empty()) {
        return result;
    }
    if (source.size() != target.size()) {
        return std::nullopt;
    }
    for (const std::uint32_t id : members(some)) {
        const auto found = std::lower_bound(source.begin(), source.end(), id);
        if (found == source.end() || *found != id) {
            return std::nullopt;
        }
        result.add(target[static_cast<std::size_t>(found - source.begin())]);
    }
    return result;
}

std::optional<R> mapped(const R& job, const R& child, const R& allocation) {
    const auto& from = child.resources.nodes;
    const auto& to = allocation.resources.nodes;
    if (from.size() != to.size()) {
        return std::nullopt;
    }
    R result;
    result.starttime = job.starttime;
    result.expiration = job.expiration;
    for (const NodeResources& node : job.resources.nodes) {
        const auto found = std::find_if(from.begin(), from.end(), [&](const auto& n) { return n.rank == node.rank; });
        if (found == from.end()) {
            return std::nullopt;
        }
        const auto i = static_cast<std::size_t>(found - from.begin());
        const auto cores = moved(node.cores, found->cores, to[i].cores);
        const auto gpus = moved(node.gpus, found->gpus, to[i].gpus);
        if (!cores || !gpus) {
            return std::nullopt;
        }
        result.resources.nodes.push_back({to[i].rank, *cores, *gpus});
        if (i < allocation.hosts.size()) {
            result.hosts.push_back(allocation.hosts[i]);
        }
    }
    return result;
}

}  // namespace

Result<std::string> map_resources(const std::string& job_R, const std::string& child_R, const std::string& allocation) {
    const auto job = decode_r(job_R);
    if (!job) {
        return job.error();
    }
    const auto child = decode_r(child_R);
    const auto whole = decode_r(allocation);
    if (child && whole) {
        if (const auto result = mapped(*job, *child, *whole)) {
            return encode_r(*result).dump();
        }
    }
    return job_R;
}

}  // namespace weir::route
