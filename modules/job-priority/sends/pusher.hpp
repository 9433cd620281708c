// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which priorities must still be sent to the plugin, in which form and in which portions.
// Must not know: how a priority is computed, RPCs, time.
// A changed priority costs a stock Flux half a millisecond, a sent one costs little (measured with flux-core 0.88).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weir::priority {

/// One `job-manager.jobpriority.update` request.
struct Push {
    enum class Mode {
        job,   ///< each job by itself: the job-manager walks its queue for each
        fill,  ///< table only, more portions follow
        all,   ///< table, then one reprioritize-all: the job-manager asks for every job and sorts once
    };
    /// In place of a value: the job is held or expedited, and the plugin must not wait for one.
    static constexpr std::uint32_t overridden = 4294967295U;
    Mode mode = Mode::job;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> jobs;  ///< in order of id
    bool is_shown = false;                                      ///< values of want_shown()
};

/// For every pending job the wanted value and the acknowledged one. One request is in flight at a time.
class Pusher {
  public:
    /// More changed jobs than this go through reprioritize-all. At 10 000 pending jobs the two ways cost the same there
    /// (3 %); per job the cost grows with the queue, so at 100 000 it is nearer to 300 jobs than to 3 % as well.
    static constexpr std::size_t each_max = 300;
    /// The job-manager serves no other request during this one.
    static constexpr std::size_t job_portion_max = 200;
    static constexpr std::size_t fill_portion_max = 10000;

    /// Sets the value that the job should have. Without effect if the plugin has it. O(log jobs).
    void want(std::uint64_t id, std::uint32_t value);
    /// The same for a value for display, or for children's orders: it is sent after all others, as many at a time as
    /// next() allows. First go those that matter most: the higher of the old and the new value counts, then the lower
    /// new one. So what was sent makes the head of the order right first, and no job drops behind one that is to drop
    /// further. O(log jobs).
    void want_shown(std::uint64_t id, std::uint32_t value);
    /// Whether a value was wanted of the job. O(1) expected.
    bool has_wanted(std::uint64_t id) const;
    /// Sets whether a limit holds the job back: until that ends 0 is sent, then the wanted value. It is kept until the
    /// job is forgotten, also for a job without a wanted value. O(1) expected.
    void hold_back(std::uint64_t id, bool is_held_back);
    /// The job became held or expedited. Unless a value is sent for it anyway, Push::overridden is sent, each time
    /// again, since the job may wait for a value. O(log jobs).
    void override(std::uint64_t id);
    /// The job no longer waits for resources: it needs no pushes.
    void forget(std::uint64_t id);
    /// The same where the receiver cannot see it: 0 is sent if it has another value.
    void withdraw(std::uint64_t id);
    /// The same for every job. O(jobs).
    void withdraw_all();

    /// Forgets every job but these.
    void retain(const std::set<std::uint64_t>& ids);

    /// The next request; empty when nothing is to be sent or one is out. Its jobs are out until acknowledge() or
    /// fail(). It has at most `shown_max` of the values of want_shown().
    std::optional<Push> next(std::size_t shown_max = SIZE_MAX);
    /// The plugin has the values. `nonce` names its load: a new one means that it has only these, and every value is
    /// sent again.
    void acknowledge(std::int64_t nonce);
    /// A message of the plugin that answers no request: a new nonce means that it was loaded again.
    void check_nonce(std::int64_t nonce);
    /// The plugin refused them or is unloaded: every value is sent again when it returns.
    void fail();

    bool is_out() const { return out_.has_value(); }
    bool has_work() const { return !dirty_.empty(); }
    bool has_shown() const { return !shown_.empty(); }
    /// Forgets every job, as if nothing had ever been sent; `pushed_total` stays.
    void clear();
    std::size_t pending() const { return jobs_.size(); }
    std::uint64_t pushed_total() const { return pushed_total_; }
    /// Whether the plugin has 0 or no value for this job, and no request is out that may change that: the job-manager
    /// offers it to no scheduler. O(log jobs of a request).
    bool has_zero(std::uint64_t id) const;
    /// The value that the plugin has for this job; empty if none.
    std::optional<std::uint32_t> pushed(std::uint64_t id) const;

  private:
    struct Job {
        std::uint32_t wanted = Push::overridden;
        bool is_shown = false;  ///< by want_shown()
        bool is_gone = false;   ///< forget it when the receiver has 0
        std::optional<std::uint32_t> acknowledged;
        std::uint64_t shown_rank = 0;  ///< in shown_
    };
    /// The rank of a value of want_shown(), the first one first, and its job.
    using Shown = std::pair<std::uint64_t, std::uint64_t>;
    std::uint32_t value_of(std::uint64_t id, const Job& job) const {
        return held_back_.count(id) != 0 ? 0 : job.wanted;
    }
    static std::uint64_t shown_rank(std::uint32_t had, std::uint32_t wanted);
    void compare(std::uint64_t id, Job& job);
    void mark_all_dirty();
    void take_dirty(std::size_t portion, Push& push);
    void take_shown(std::size_t portion, Push& push);

    std::unordered_map<std::uint64_t, Job> jobs_;
    std::unordered_set<std::uint64_t> held_back_;
    std::set<std::uint64_t> dirty_;  // ordered, so that a run can be repeated
    std::set<Shown> shown_;
    std::optional<Push> out_;
    bool is_filling_ = false;
    std::optional<std::int64_t> nonce_;
    std::uint64_t pushed_total_ = 0;
};

}  // namespace weir::priority
