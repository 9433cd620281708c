// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_order.hpp.
#include "libsched/sim/lsf_order.hpp"

#include <algorithm>
#include <string>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

LsfOrder::LsfOrder(const PolicySettings& settings, LogShares shares, SiteValuesPtr admin)
    : policy_(settings.lsf),
      queue_priorities_(settings.queues),
      admin_(std::move(admin)),
      shares_(std::move(shares)),
      version_(shares_.version()),
      tree_(shares_.tree()),
      history_(tree_->size(), settings.lsf.history) {}

void LsfOrder::follow_tree() {
    if (shares_.version() != version_) {
        version_ = shares_.version();
        history_.rebind(match_nodes(*tree_, *shares_.tree()), shares_.tree()->size());
        tree_ = shares_.tree();
    }
}

std::uint32_t LsfOrder::queue_of(std::uint16_t number) {
    const auto [known, is_new] = queue_index_.try_emplace(number, static_cast<std::uint32_t>(queues_.size()));
    if (is_new) {
        const std::string name = std::to_string(number);
        const auto priority = queue_priorities_.find(name);
        const auto own = policy_.queue_factors.find(name);
        const auto group =
            own == policy_.queue_factors.end() ? 0 : std::distance(policy_.queue_factors.begin(), own) + 1;
        queues_.push_back({priority == queue_priorities_.end() ? 0. : priority->second,
                           static_cast<std::uint32_t>(group), lsf_factors_of(policy_, name)});
    }
    return known->second;
}

void LsfOrder::submitted(const SimJob& job, JobId id, Instant) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    Entry& entry = entries_[id.value];
    entry.party = shares_.party(job);
    follow_tree();
    running_.resize(shares_.parties());
    entry.place = places_++;
    entry.queue = queue_of(job.queue);
    entry.submit = job.submit;
    entry.admin = admin_ ? admin_->of(job.number) : 0.;
    entry.slots = job.cores;
    entry.committed_h = to_seconds(job.limit) / 3600 * job.cores;
    waiting_.emplace(entry.place, id);
}

void LsfOrder::count_cpu(Instant now) {
    for (Party party = 0; party < running_.size() && policy_.factors.cpu_time > 0 && now > counted_; party++) {
        if (const NodeId leaf = shares_.leaf(party); running_[party] > 0 && leaf != unassociated) {
            const auto used =
                static_cast<CoreMicros>(running_[party]) * static_cast<CoreMicros>((now - counted_).count());
            history_.cpu_used(leaf, used, counted_, now);
        }
    }
    counted_ = now;
}

void LsfOrder::started(const SimJob& job, JobId id, Instant now) {
    count_cpu(now);
    Entry& entry = entries_[id.value];
    entry.started = now;
    waiting_.erase(entry.place);
    values_.forget(id);
    running_[entry.party] += job.cores;
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.start(leaf, lsf_job(job), now);
    }
}

void LsfOrder::ended(const SimJob& job, JobId id, Instant now) {
    count_cpu(now);
    const Entry& entry = entries_[id.value];
    running_[entry.party] -= job.cores;
    if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
        history_.end(leaf, lsf_job(job), entry.started, now);
    }
}

void LsfOrder::order_by_users() {
    std::map<std::pair<double, std::uint32_t>, std::vector<JobId>> groups;
    for (const auto& [place, id] : waiting_) {
        const Queue& queue = queues_[entries_[id.value].queue];
        groups[{-queue.priority, queue.group}].push_back(id);
    }
    for (const auto& [group, ids] : groups) {
        LsfDispatch dispatch(*tree_, queues_[entries_[ids.front().value].queue].factors, use_);
        std::vector<JobId> shareless;  // nobody without shares submits in LSF; here they come after the others
        for (const JobId id : ids) {
            const Entry& entry = entries_[id.value];
            if (const NodeId leaf = shares_.leaf(entry.party); leaf != unassociated) {
                dispatch.submit({leaf, entry.place, entry.slots, entry.committed_h});
            } else {
                shareless.push_back(id);
            }
        }
        while (const auto next = dispatch.next()) {
            order_.push_back(waiting_.at(next->order));
        }
        order_.insert(order_.end(), shareless.begin(), shareless.end());
    }
}

void LsfOrder::order_by_aps(Instant now) {
    const LsfDispatch users(*tree_, policy_.factors, use_);
    std::vector<std::pair<double, JobId>> values;
    for (const auto& [place, id] : waiting_) {
        const Entry& entry = entries_[id.value];
        const NodeId leaf = shares_.leaf(entry.party);
        std::array<double, aps_parts> parts{};
        parts[static_cast<std::size_t>(ApsPart::fs)] = leaf == unassociated ? 0. : users.priority(leaf);
        parts[static_cast<std::size_t>(ApsPart::proc)] = entry.slots;
        parts[static_cast<std::size_t>(ApsPart::qprio)] = queues_[entry.queue].priority;
        values.emplace_back(aps_value(*policy_.aps, parts, now - entry.submit, entry.admin), id);
    }
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [value, id] : values) {
        order_.push_back(id);
    }
}

void LsfOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    count_cpu(now);
    history_.snapshot(*tree_, now, use_);
    order_.clear();
    policy_.aps ? order_by_aps(now) : order_by_users();
    values_.assign(order_, changed);
}

}  // namespace weir
