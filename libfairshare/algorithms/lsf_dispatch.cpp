// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_dispatch.hpp.
#include "libfairshare/algorithms/lsf_dispatch.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/base/check.hpp"

namespace weir {

LsfDispatch::LsfDispatch(const ShareTree& tree, const LsfFactors& factors, std::span<const DynamicUse> use)
    : tree_(tree),
      factors_(factors),
      divisors_(Lsf{factors}.divisors(tree, use)),
      jobs_(tree.size()),
      children_(tree.size()) {}

/// REQUIRES: waits(id).
std::uint64_t LsfDispatch::head(std::uint32_t id) const {
    while (jobs_[id].empty()) {
        id = children_[id].begin()->id;
    }
    return jobs_[id].begin()->order;
}

LsfDispatch::Entry LsfDispatch::entry_of(std::uint32_t id) const {
    return {divisors_[id], tree_.shares(NodeId{id}), head(id), id};
}

/// Takes the nodes of a path out of their siblings' order, changes them, and puts back those that still wait.
template <typename Change>
void LsfDispatch::change_path(NodeId leaf, Change change) {
    std::vector<std::uint32_t> path;
    for (NodeId at = leaf; at != root_node; at = tree_.parent(at)) {
        path.push_back(at.value);
    }
    for (auto at = path.rbegin(); at != path.rend(); ++at) {  // from the top: an entry names the head below it
        if (waits(*at)) {
            children_[tree_.parent(NodeId{*at}).value].erase(entry_of(*at));
        }
    }
    change(path);
    for (const std::uint32_t at : path) {
        if (waits(at)) {
            children_[tree_.parent(NodeId{at}).value].insert(entry_of(at));
        }
    }
}

void LsfDispatch::submit(const LsfWaiting& job) {
    WEIR_CHECK(job.leaf != root_node && job.leaf.value < tree_.size() && !tree_.is_account(job.leaf));
    change_path(job.leaf, [&](const auto& path) { jobs_[path.front()].insert(job); });
}

std::optional<LsfWaiting> LsfDispatch::next() {
    if (children_[root_node.value].empty()) {
        return std::nullopt;
    }
    std::uint32_t leaf = root_node.value;
    while (jobs_[leaf].empty()) {
        leaf = children_[leaf].begin()->id;
    }
    const LsfWaiting job = *jobs_[leaf].begin();
    const double added = job.slots * factors_.run_job + job.committed_h * factors_.committed_run_time;
    const auto units = static_cast<CoreMicros>(std::llround(std::min(added, 0x1p30) / lsf_divisor_min));
    change_path(job.leaf, [&](const auto& path) {
        jobs_[leaf].erase(jobs_[leaf].begin());
        for (const std::uint32_t at : path) {
            divisors_[at] = std::min(divisors_[at] + units, usage_max);
        }
        divisors_[root_node.value] = std::min(divisors_[root_node.value] + units, usage_max);
    });
    return job;
}

double LsfDispatch::priority(NodeId id) const {
    return tree_.shares(id) / (static_cast<double>(divisors_[id.value]) * lsf_divisor_min);
}

}  // namespace weir
