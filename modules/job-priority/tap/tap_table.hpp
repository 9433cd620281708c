// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the jobtap plugin answers when the job-manager asks for a job's priority: a table, never a computation.
// Must not know: Flux handles, JSON, where the values come from. `now` comes in as an argument.
// Source: flux-jobtap-plugins(7); RFC 21 (PRIORITY, SCHED), RFC 30 (urgency 0 held, 31 expedited).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::priority {

/// The values a computed priority may have. 0 means held to the job-manager (ours only for jobs that a limit holds
/// back), 2^32-1 expedited (never ours).
inline constexpr std::uint32_t priority_lowest = 1;
inline constexpr std::uint32_t priority_highest = 4294967294U;

/// Instead of a priority in an update: the job is held or expedited, has no value and need not wait.
inline constexpr std::int64_t overridden_on_wire = -1;

/// Brings any 64-bit number into [priority_lowest, priority_highest].
std::uint32_t clamp_priority(std::int64_t value);

/// The job as the job-manager describes it when it asks.
struct TapQuestion {
    std::uint64_t id = 0;
    int urgency = 16;           ///< RFC 30, [0, 31]
    bool is_in_sched = false;   ///< false: in PRIORITY, waiting for its first value (or for a new one)
    std::int64_t priority = 0;  ///< what the job-manager holds now
    std::string kind = {};      ///< job_kind.hpp; empty: none
};

/// The plugin's memory. "Unavailable" is an empty optional: the job stays in PRIORITY until `set` and a push.
class TapTable {
  public:
    /// starting: no `synced` yet. synced: the module answers. fallback: it was unloaded, or did not answer in time.
    enum class Mode { starting, synced, fallback };

    explicit TapTable(Duration unavail_timeout) : unavail_timeout_(unavail_timeout) {}

    /// job.state.priority: the job entered PRIORITY. The known value; else, held and expedited jobs, for whom the
    /// job-manager overrides any value, get the lowest; else in fallback mode fallback(); else, if the module answers,
    /// the first value of its kind, which counts as known; else unavailable, and the job waits from `now` on.
    std::optional<std::uint32_t> on_enter(const TapQuestion& job, Instant now);

    /// job.priority.get: asked of every pending job by a reprioritize-all. As on_enter, but an unknown job in SCHED
    /// keeps the priority it has (never "unavailable", which the job-manager would log as a bug for each job). In
    /// fallback mode 0 is none: nobody is there who would give the job another one.
    std::optional<std::int64_t> on_get(const TapQuestion& job, Instant now);

    /// The urgency of a job changed while it waits for a value, which no state callback reports. True: it became held
    /// or expedited, so it no longer waits, and the caller releases it with any value.
    bool on_urgency(std::uint64_t id, int urgency);

    /// Stores a value and returns what was stored: 0, which holds the job back (a limit), or the value clamped. The job
    /// is no longer waiting.
    std::uint32_t set(std::uint64_t id, std::int64_t value);

    /// Stores a value that the job-manager gets by a reprioritize-all. A returned value must be pushed separately all
    /// the same: its job waits in PRIORITY, and a reprioritize-all skips a job whose value did not change, so it would
    /// stay there for ever.
    std::optional<std::uint32_t> set_for_all(std::uint64_t id, std::int64_t value);

    /// The first values of new jobs, by kind; `is_all`: earlier ones are forgotten.
    void set_first_values(const std::vector<std::pair<std::string, std::uint32_t>>& rows, bool is_all);
    /// Whether on_enter() needs a new job's kind.
    bool wants_kind() const { return mode_ == Mode::synced && !first_values_.empty(); }

    /// Whether a reprioritize-all would have an effect. It asks for every active job: after each burst of new jobs,
    /// which were pushed one by one, it would make submission O(active jobs).
    bool is_ahead() const { return is_ahead_; }
    /// The job-manager has asked for all values.
    void set_reprioritized() { is_ahead_ = false; }

    bool is_waiting(std::uint64_t id) const { return waiting_.count(id) != 0; }

    /// The jobs not offered to the scheduler: held back by a limit, or waiting for a value. O(known).
    std::vector<std::uint64_t> withheld() const;

    /// job.state.inactive: the job ended.
    void forget(std::uint64_t id);

    /// The module has sent all values at `now`: unknown jobs wait for it again.
    void set_synced(Instant now) {
        mode_ = Mode::synced;
        synced_at_ = now;
        detached_at_.reset();
    }
    /// The module unloads at `now`: the same as a timeout, at once. Jobs that are held back stay so for the timeout,
    /// since the module may only be loaded again; and if limits hold, so do unknown ones, which could exceed them.
    void set_detached(Instant now, bool is_limited) {
        mode_ = is_limited ? Mode::starting : Mode::fallback;
        first_values_.clear();
        detached_at_ = now;
    }
    /// A module is there again: it decides about the jobs that are held back.
    void set_attached() { detached_at_.reset(); }

    /// Jobs to be released with their fallback value. In fallback mode: all waiting jobs. If one has waited for the
    /// timeout without a message of the module, or the module has been away for it: all, and the mode becomes fallback.
    /// If there was a message: only those that have waited so long. They no longer wait and are not entered in the
    /// table, so that the module's first value for them is a change. O(waiting).
    std::vector<std::pair<std::uint64_t, std::uint32_t>> release_overdue(Instant now);

    /// If the module has been away for the timeout, forgets that jobs are held back: a reprioritize-all then gives them
    /// their fallback value. \return their number. O(known) at that time.
    std::size_t release_withheld(Instant now);

    /// The time of the next release_overdue() or release_withheld() with an effect; empty if there is none. O(waiting).
    std::optional<Instant> next_deadline() const;

    /// The value of a job without a computed one: its urgency, but never above the lowest value in the table. So new
    /// jobs keep their order by urgency, then by id, and are behind every job with a computed priority.
    std::uint32_t fallback(int urgency) const;

    void set_unavail_timeout(Duration timeout) { unavail_timeout_ = timeout; }
    Mode mode() const { return mode_; }
    std::size_t known() const { return values_.size(); }
    std::size_t waiting() const { return waiting_.size(); }
    /// Jobs that got the first value of their kind.
    std::uint64_t gave_first() const { return gave_first_; }

  private:
    struct Waiting {
        Instant since;
        int urgency;
    };
    std::unordered_map<std::uint64_t, std::uint32_t> values_;
    std::unordered_map<std::string, std::uint32_t> first_values_;  // by kind
    std::map<std::uint64_t, Waiting> waiting_;                     // ordered: released in order of submission
    mutable std::optional<std::uint32_t> lowest_;                  // of values_; empty = to be computed
    Duration unavail_timeout_;
    Mode mode_ = Mode::starting;
    std::uint64_t gave_first_ = 0;
    bool is_ahead_ = false;               ///< has values that the job-manager does not have
    std::optional<Instant> synced_at_;    ///< when the module last sent `synced`
    std::optional<Instant> detached_at_;  ///< when the module was unloaded; empty: one is there, or jobs were released
};

}  // namespace weir::priority
