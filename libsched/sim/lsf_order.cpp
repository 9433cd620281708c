// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see lsf_order.hpp.
#include "libsched/sim/lsf_order.hpp"

#include <functional>
#include <string>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir {

LsfOrder::LsfOrder(const PolicySettings& settings, LogShares shares)
    : policy_(settings.lsf),
      queues_(settings.queues),
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

void LsfOrder::submitted(const SimJob& job, JobId id, Instant) {
    if (id.value >= entries_.size()) {
        entries_.resize(id.value + 1);
    }
    Entry& entry = entries_[id.value];
    entry.party = shares_.party(job);
    follow_tree();
    running_.resize(shares_.parties());
    entry.place = places_++;
    const auto queue = queues_.find(std::to_string(job.queue));
    entry.queue_priority = queue == queues_.end() ? 0 : queue->second;
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

void LsfOrder::prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    count_cpu(now);
    history_.snapshot(*tree_, now, use_);
    LsfDispatch dispatch(*tree_, policy_.factors, use_);
    std::map<double, std::vector<JobId>, std::greater<>> by_queue;
    for (const auto& [place, id] : waiting_) {
        by_queue[entries_[id.value].queue_priority].push_back(id);
    }
    order_.clear();
    for (const auto& [priority, ids] : by_queue) {
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
    values_.assign(order_, changed);
}

}  // namespace weir
