// SPDX-License-Identifier: LGPL-3.0-only
// Owns: an ordered set of jobs, highest priority first, equal priorities by id (the older first): the order in which
//   alloc requests are sent (RFC 27) and the order of the requests that are out.
// Must not know: states, flux_t. Every operation is O(log n): stock Flux keeps a linked list and searches it.
#pragma once
#include <compare>
#include <set>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// Sort key. A smaller key is nearer to the head.
struct QueueKey {
    std::int64_t priority;
    JobId id;
    friend std::strong_ordering operator<=>(const QueueKey& a, const QueueKey& b) {
        if (const auto order = b.priority <=> a.priority; std::is_neq(order)) {
            return order;
        }
        return a.id <=> b.id;
    }
    friend bool operator==(const QueueKey&, const QueueKey&) = default;
};

class JobQueue {
  public:
    /// REQUIRES: the job is in no queue. Remembers the key in Job::queued_priority.
    void insert(Job& job);
    /// REQUIRES: the job is in this queue.
    void erase(Job& job);
    /// After a change of Job::priority: moves the job to its new place.
    void reorder(Job& job);
    Job* first() const { return jobs_.empty() ? nullptr : jobs_.begin()->job; }
    Job* last() const { return jobs_.empty() ? nullptr : jobs_.rbegin()->job; }
    std::size_t size() const { return jobs_.size(); }
    bool empty() const { return jobs_.empty(); }

    struct Entry {
        QueueKey key;
        Job* job;
        friend bool operator<(const Entry& a, const Entry& b) { return a.key < b.key; }
    };
    auto begin() const { return jobs_.begin(); }
    auto end() const { return jobs_.end(); }
    auto rbegin() const { return jobs_.rbegin(); }
    auto rend() const { return jobs_.rend(); }

  private:
    std::set<Entry> jobs_;
};

}  // namespace weir::broker::jobs
