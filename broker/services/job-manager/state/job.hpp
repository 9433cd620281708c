// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Job, the record of one job. Everything that follows from its eventlog alone is in Job::state and the fields
//   under "folded"; the rest is the manager's book-keeping about requests in flight.
// Must not know: flux_t, handlers, files.
// RFC 21 (states), RFC 25 (jobspec V1), RFC 20 (R), RFC 30 (urgency).
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/services/job-manager/state/event.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker::jobs {

using JobId = std::uint64_t;

/// RFC 21 states with Flux's numbers (one bit each, so that masks work). `created` is NEW there.
enum class State : int { created = 1, depend = 2, priority = 4, sched = 8, run = 16, cleanup = 32, inactive = 64 };
inline constexpr int mask_pending = 14;
inline constexpr int mask_running = 48;
inline constexpr int mask_active = 62;
inline int bit(State state) {
    return static_cast<int>(state);
}
inline bool is_in(State state, int mask) {
    return (bit(state) & mask) != 0;
}
/// Index 0 (created) to 6 (inactive).
int state_index(State state);
/// "depend" and so on, as job-list.job-stats spells it.
const char* state_name(int index);

/// RFC 30 and FLUX_JOB_PRIORITY_*.
inline constexpr std::int64_t priority_min = 0;
inline constexpr std::int64_t priority_max = 4294967295;
inline constexpr std::int64_t priority_unknown = -1;
inline constexpr int urgency_hold = 0;
inline constexpr int urgency_default = 16;
inline constexpr int urgency_expedite = 31;
enum class JobResult : int { completed = 1, failed = 2, canceled = 4, timeout = 8 };

/// The facts of a jobspec that are kept while its job is active; the rest is read from its text (jobspec_names). -1 =
/// unknown.
struct JobspecFacts {
    std::string queue;
    double duration = -1;
    int ntasks = -1, ncores = -1, nnodes = -1;
    /// Of attributes.system.job.name, to find names that may be equal; 0 = not named. Small, because each pending job
    /// has it.
    std::uint16_t name_hash = 0;
    /// Simulated execution (attributes.system.exec.test): no process that a restart could lose.
    bool is_simulated = false;
    /// attributes.system.weir.partition: of the owner's jobs, an instance that serves everybody's.
    bool is_partition = false;
};

/// The facts of R for job-list and the resource status. -1 = not known.
struct ResourceFacts {
    std::string ranks, nodelist;
    int ncores = -1, nnodes = -1;
    double expiration = -1;
};

/// The resources of a job (RFC 20).
struct Allocation {
    /// Compact JSON.
    std::string text;
    /// The same, while the job is active.
    Json tree;
    ResourceFacts facts;
};

/// The exception that ended the job, or the most severe one so far.
struct RaisedException {
    int severity = 0;
    std::string type, note;
};

/// A part that few jobs have: a pointer's size in those that do not, which read it as T().
template <class T>
class Rare {
  public:
    const T& operator*() const {
        static const T none{};
        return value_ ? *value_ : none;
    }
    const T* operator->() const { return &**this; }
    /// The part to write to.
    T& make() {
        if (!value_) {
            value_ = std::make_unique<T>();
        }
        return *value_;
    }
    Rare& operator=(T value) {
        make() = std::move(value);
        return *this;
    }

  private:
    std::unique_ptr<T> value_;
};

/// The jobspec as text: redacted (no environment) plus the environment, which equal jobs share.
struct JobspecText {
    std::string redacted;
    std::shared_ptr<const std::string> environment;
    /// As submitted, kept only once a jobspec-update changed it.
    std::unique_ptr<std::string> original;
};

struct Job {
    JobId id = 0;
    /// 0 for the first job of the instance; basis of the default priority.
    std::uint64_t sequence = 0;

    // ---- folded from the eventlog by transition() ----
    State state = State::created;
    std::uint32_t userid = 0xFFFFFFFF;
    int urgency = urgency_default;
    int flags = 0;
    std::int64_t priority = priority_unknown;
    /// First entry into each state, microseconds, 0 = never; index as state_index().
    std::int64_t t_state_us[7] = {};
    int states_mask = 1;
    bool has_resources = false;
    bool was_started = false;
    /// Handed to the executor: processes may have run, though no start is on record.
    bool was_launched = false;
    /// Time of the start event, 0 = not started.
    std::int64_t t_start_us = 0;
    bool alloc_bypass = false;
    bool is_immutable = false;
    bool is_readonly = false;
    int perilog_active = 0;
    Rare<std::set<std::string>> dependencies;
    /// The finish or fatal exception event that ended the job: {"name","context",...}.
    Json end_event;
    int wait_status = -1;
    bool success = false;
    bool had_exception = false;
    Rare<RaisedException> exception;
    Json annotations;

    // ---- what the job is ----
    JobspecText jobspec_text;
    /// The redacted jobspec as a tree, for some active jobs: ask jobspec_tree().
    Json jobspec;
    JobspecFacts facts;
    Rare<Allocation> r;
    /// One encode()d entry a line, each with a newline.
    std::string eventlog;

    // ---- requests in flight ----
    bool alloc_queued = false;
    bool alloc_pending = false;
    bool start_pending = false;
    bool free_posted = false;
    bool depend_posted = false;
    bool clean_posted = false;
    /// Key under which the job stands in the alloc queue or the sent queue.
    std::int64_t queued_priority = 0;
    struct Posted {
        Event event;
        bool is_volatile = false;
    };
    /// Events waiting for their turn; the front one is being processed.
    std::vector<Posted> posted;

    std::int64_t t_submit_us() const { return t_state_us[0]; }
    bool is_queued_event(std::string_view name) const;
    JobResult result() const;
    bool has_run() const { return (states_mask & bit(State::run)) != 0; }
};

/// The redacted jobspec, read from its text where no tree is kept. Empty if that cannot be read.
Json jobspec_tree(const Job& job);
/// The full text of the jobspec, with its environment.
std::string full_jobspec(const JobspecText& text);

}  // namespace weir::broker::jobs
