// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of waiting jobs as another program gives it: a number for each job and one for each group of jobs,
// whose sum sorts them. So one number for each group changes the order of a whole queue. Must not know what a group is
// nor how the numbers arrive.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/job.hpp"
#include "libsched/sorted_chunks.hpp"

namespace weir {

/// What sorts a job besides its group's number.
struct OrderPart {
    std::uint32_t group = 0;
    std::int64_t own = 0;
};

/// Numbers that changed, in units of 2^-bits of a priority.
struct OrderChange {
    struct Job {
        JobId id;
        OrderPart part;
    };
    bool is_all = false;  ///< all numbers given before are forgotten
    int bits = 0;         ///< 0 to 31
    std::vector<JobId> gone;
    std::vector<Job> jobs;  ///< pending, or not yet known to the scheduler
    std::vector<std::pair<std::uint32_t, std::int64_t>>
        groups;  ///< what is added to the number of each job of the group
};

class JobOrder {
  public:
    /// O(change x log jobs), or O(jobs) for all.
    void apply(const OrderChange& change) {
        if (change.is_all) {
            clear();
        }
        bits_ = change.bits;
        for (const JobId id : change.gone) {
            jobs_.erase(id);
        }
        for (const OrderChange::Job& job : change.jobs) {
            const auto place = jobs_.lower_bound(job.id);
            if (jobs_.is_at(place, job.id)) {
                jobs_.update_at(place, [&job](OrderChange::Job& known) { known.part = job.part; });
            } else {
                jobs_.insert_at(place, job);
            }
        }
        for (const auto& [group, added] : change.groups) {
            groups_.insert_or_assign(group, added);
        }
    }
    void clear() {
        jobs_ = {};
        groups_.clear();
        bits_ = 0;
    }
    int bits() const { return bits_; }
    /// Jobs with a number.
    std::size_t size() const { return jobs_.size(); }

    /// What sorts the job, in units of 2^-bits: the sum, or `number`, its priority, where it has none. A held or
    /// expedited job keeps its priority. O(log jobs).
    std::uint32_t priority(JobId id, std::uint32_t number) const {
        if (number == priority_held || number == priority_expedited) {
            return number;
        }
        const OrderChange::Job* job = jobs_.find(id);
        const auto group = job == nullptr ? groups_.end() : groups_.find(job->part.group);
        const std::int64_t sum = group == groups_.end() ? std::int64_t{number} << bits_ : job->part.own + group->second;
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sum, priority_min, priority_max));
    }

  private:
    struct ById {
        static JobId key(const OrderChange::Job& job) { return job.id; }
        struct Summary {
            void add(const OrderChange::Job&) {}
            void remove(const OrderChange::Job&) {}
        };
    };

    SortedChunks<OrderChange::Job, ById> jobs_;  // takes a third of the memory of a hash table
    std::unordered_map<std::uint32_t, std::int64_t> groups_;
    int bits_ = 0;
};

}  // namespace weir
