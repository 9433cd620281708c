// SPDX-License-Identifier: LGPL-3.0-only
// Owns: resource_map.hpp.
#include "modules/job-route/resource_map.hpp"

#include <algorithm>
#include <vector>

#include "libfairshare/base/hostlist.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {
namespace {

std::uint64_t size_of(const IdSet::Range& range) {
    return std::uint64_t{range.last} - range.first + 1;
}

/// Members number from..from+count-1 of a set, counted from its lowest. REQUIRES: it has so many.
void add_places(const IdSet& set, std::uint64_t from, std::uint64_t count, IdSet& out) {
    for (const IdSet::Range& range : set.ranges()) {
        if (count == 0) {
            return;
        }
        if (from >= size_of(range)) {
            from -= size_of(range);
            continue;
        }
        const std::uint64_t part = std::min(count, size_of(range) - from);
        const auto first = static_cast<std::uint32_t>(range.first + from);
        out.add({first, static_cast<std::uint32_t>(first + part - 1)});
        count -= part;
        from = 0;
    }
}

/// The members of `to` at the places that `some` has in `from`. REQUIRES: from and to have equally many members, and
/// from includes some.
IdSet moved(const IdSet& some, const IdSet& from, const IdSet& to) {
    IdSet result;
    std::uint64_t before = 0;  // members of `from` below the range looked at
    auto source = from.ranges().begin();
    for (const IdSet::Range& range : some.ranges()) {
        for (; source->last < range.first; ++source) {
            before += size_of(*source);
        }
        add_places(to, before + (range.first - source->first), size_of(range), result);
    }
    return result;
}

bool has_same_shape(const R& a, const R& b) {
    const auto& x = a.resources.nodes;
    const auto& y = b.resources.nodes;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const NodeResources& m, const NodeResources& n) {
        return m.cores.count() == n.cores.count() && m.gpus.count() == n.gpus.count();
    });
}

Error refused(const std::string& why) {
    return Error{std::errc::invalid_argument, "R: " + why};
}

}  // namespace

/// A job's nodes have a core each, all of them cores of the allocation.
Result<ResourceMap> ResourceMap::make(const std::string& child_R, const std::string& allocation,
                                      std::uint64_t nodes_max) {
    ResourceMap map;
    map.nodes_max_ = nodes_max;
    if (auto whole = decode_r(allocation)) {
        map.allocation_ = std::move(whole).value();
        map.nodes_max_ = std::min<std::uint64_t>(nodes_max, core_count(map.allocation_->resources));
    }
    if (!child_R.empty()) {
        auto child = decode_r(child_R, nodes_max);
        if (!child) {
            return child.error();
        }
        map.nodes_max_ = std::min<std::uint64_t>(map.nodes_max_, child->resources.nodes.size());
        std::uint64_t most = 0;
        for (const NodeResources& node : child->resources.nodes) {
            most = std::max<std::uint64_t>(most, node.cores.count());
        }
        map.node_cores_ = static_cast<std::int64_t>(std::min<std::uint64_t>(most, cores_max));
        if (map.allocation_ && has_same_shape(*child, *map.allocation_)) {
            map.child_ = std::move(child).value();
        }
    }
    return map;
}

std::optional<IdSet> ResourceMap::ranks_below(const IdSet& ranks) const {
    if (!child_) {
        return std::nullopt;
    }
    IdSet below;
    for (std::size_t i = 0; i < allocation_->resources.nodes.size(); i++) {
        if (ranks.contains(allocation_->resources.nodes[i].rank)) {
            below.add(child_->resources.nodes[i].rank);
        }
    }
    return below;
}

Result<std::string> ResourceMap::map(const std::string& job_R) const {
    const auto job = decode_r(job_R, nodes_max_);
    if (!job) {
        return job.error();
    }
    if (allocation_ && core_count(job->resources) > core_count(allocation_->resources)) {
        return refused("more cores than the child instance has");
    }
    if (!child_) {
        return encode_r(*job).dump();
    }
    const auto& from = child_->resources.nodes;
    const auto& to = allocation_->resources.nodes;
    R result;
    result.starttime = job->starttime;
    result.expiration = job->expiration;
    for (const NodeResources& node : job->resources.nodes) {
        const auto found = std::lower_bound(from.begin(), from.end(), node.rank,
                                            [](const NodeResources& n, std::uint32_t rank) { return n.rank < rank; });
        if (found == from.end() || found->rank != node.rank || !found->cores.includes(node.cores) ||
            !found->gpus.includes(node.gpus)) {
            return refused("rank " + std::to_string(node.rank) + " names what the child instance does not have");
        }
        const auto i = static_cast<std::size_t>(found - from.begin());
        result.resources.nodes.push_back({to[i].rank, moved(node.cores, found->cores, to[i].cores),
                                          moved(node.gpus, found->gpus, to[i].gpus),
                                          std::min(node.memory_mib, to[i].memory_mib)});
        if (i < allocation_->hosts.size()) {
            result.hosts.push_back(allocation_->hosts[i]);
        }
    }
    result.properties = properties_of(result.resources, allocation_->properties);
    return encode_r(result).dump();
}

Drains ResourceMap::drains_below(const Drains& drains) const {
    Drains below;
    for (std::size_t i = 0; child_ && i < child_->resources.nodes.size(); i++) {
        const auto drain = drains.find(allocation_->resources.nodes[i].rank);
        if (drain != drains.end()) {
            below.emplace(child_->resources.nodes[i].rank, drain->second);
        }
    }
    return below;
}

std::string drained_hosts(const std::string& text, const Drains& drains) {
    std::vector<std::string> names;
    const auto whole = drains.empty() || text.empty() ? Result<R>(R{}) : decode_r(text);
    for (std::size_t i = 0; whole && i < whole->hosts.size(); i++) {
        if (drains.count(whole->resources.nodes[i].rank) > 0) {
            names.push_back(whole->hosts[i]);
        }
    }
    return hostlist_encode(names);
}

}  // namespace weir::route
