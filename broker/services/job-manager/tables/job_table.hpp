// SPDX-License-Identifier: LGPL-3.0-only
// Owns: all jobs: the active ones by id, the inactive ones oldest first until they are purged, and the counts of
//   job-list.job-stats, which follow every change of state.
// Must not know: flux_t, events, files.
// Ids grow with submission, so iterating the active jobs goes oldest first.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// Counts for one queue, or for all jobs.
struct JobCounts {
    int states[7] = {};
    int successful = 0, failed = 0, canceled = 0, timeout = 0, purged = 0;
};

class JobTable {
  public:
    using Active = std::map<JobId, std::unique_ptr<Job>>;

    /// REQUIRES: the id is new. O(log n).
    Job& add(std::unique_ptr<Job> job);
    /// Takes out an active job that was not accepted (validation failed).
    void drop(JobId id);
    Job* active(JobId id) const;
    Job* inactive(JobId id) const;
    /// Active or inactive.
    Job* find(JobId id) const;
    const Active& active_jobs() const { return active_; }
    /// The active jobs in RUN or CLEANUP: all that hold resources.
    const std::map<JobId, Job*>& running_jobs() const { return running_; }
    std::size_t active_count() const { return active_.size(); }
    std::size_t inactive_count() const { return inactive_.size(); }
    /// Inactive jobs, oldest first.
    const std::deque<Job*>& inactive_jobs() const { return order_; }

    /// Follows a change of the active job's state. `before` is the state it left. O(1), O(log n) at the ends of a run.
    void count(Job& job, State before);
    /// An active job became inactive: moves it, drops what only active jobs need (trees).
    void retire(Job& job);
    /// How many of the oldest inactive jobs exceed a limit at time `now_us`. Negative limits mean no limit.
    std::size_t purgeable(std::int64_t now_us, double age_limit_s, std::int64_t count_limit) const;
    /// Forgets the oldest inactive job and returns it. REQUIRES: there is one.
    std::unique_ptr<Job> purge_oldest();
    std::unique_ptr<Job> purge(JobId id);

    JobId max_id() const { return max_id_; }
    void raise_max_id(JobId id) { max_id_ = std::max(max_id_, id); }
    int running() const { return static_cast<int>(running_.size()); }
    const JobCounts& counts() const { return all_; }
    const std::map<std::string, JobCounts>& counts_by_queue() const { return by_queue_; }
    /// A configured queue is listed in the statistics before its first job.
    void know_queue(const std::string& name) { by_queue_[name]; }
    /// A jobspec-update moved the job, counted in `state`, from another queue. Before count() of that event.
    void recount_queue(const Job& job, const std::string& old_queue, State state);

  private:
    void add_to(JobCounts& counts, const Job& job, State state, int by) const;
    std::unique_ptr<Job> forget(std::unordered_map<JobId, std::unique_ptr<Job>>::iterator at);

    Active active_;
    std::map<JobId, Job*> running_;
    std::unordered_map<JobId, std::unique_ptr<Job>> inactive_;
    std::deque<Job*> order_;
    JobCounts all_;
    std::map<std::string, JobCounts> by_queue_;
    JobId max_id_ = 0;
};

/// RFC 19 FLUIDs: 40 bits of milliseconds since the instance began, 14 of generator, 10 of sequence.
class IdGenerator {
  public:
    /// Ids will be greater than `last`. `now_us` is the time of creation. `generator` is less than 16384.
    IdGenerator(JobId last, std::int64_t now_us, std::uint32_t generator = 0);
    /// A new id, greater than all before. More than 1024 a millisecond borrow from the next one.
    JobId next(std::int64_t now_us);

  private:
    std::int64_t zero_us_;
    std::uint64_t ms_;
    std::uint32_t generator_;
    std::uint32_t sequence_ = 0;
};

/// The generator of an instance that is the job `in_parent` of its parent; 0 is a root's. Instances of a tree count
/// their milliseconds each from its own start. With one generator for all, two of them would issue equal ids.
std::uint32_t id_generator_of(JobId in_parent);

}  // namespace weir::broker::jobs
