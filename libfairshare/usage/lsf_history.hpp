// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's history of each share account: CPU time, run times of running and finished jobs, slots, commitments.
// Must not know: shares, factors, priorities (algorithms/lsf). Source: LSF 10.1, dynamic user priority; lsb.params.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/decay.hpp"
#include "libfairshare/usage/dynamic_use.hpp"
#include "libfairshare/usage/usage.hpp"

namespace weir {

/// HIST_HOURS as a half-life: an hour counts a tenth after HIST_HOURS, so it halves in HIST_HOURS * log10 2. 0: no
/// decay.
Duration half_life_of_hist_hours(double hist_hours);

struct LsfHistorySettings {
    double hist_hours = 5;              ///< HIST_HOURS, 0 (no decay) to 876600
    bool enable_hist_run_time = false;  ///< ENABLE_HIST_RUN_TIME: finished jobs' run time counts
    bool enable_gpu_hist_run_time = false;
    bool run_time_decay = false;  ///< RUN_TIME_DECAY: running jobs' run time decays too
    bool counts_cpus = true;      ///< LSB_NCPU_ENFORCE: a parallel job's run time counts once for each slot
    bool counts_jobs = false;     ///< FAIRSHARE_JOB_COUNT: the slots term counts jobs
    /// CPU time is given by cpu_used(); otherwise a running job is assumed to use all of its slots fully.
    bool measures_cpu = true;

    /// Errors: EINVAL for HIST_HOURS out of range.
    Status validate() const;
    friend bool operator==(const LsfHistorySettings&, const LsfHistorySettings&) = default;
};

struct LsfJob {
    std::int64_t slots = 1;  ///< negative: lent to jobs that are counted by themselves; this is then no job
    std::int64_t gpus = 0;
    Duration committed{};  ///< bsub -W or the queue's RUNLIMIT; 0: none
    friend bool operator==(const LsfJob&, const LsfJob&) = default;
};

struct LsfHistoryState {
    LsfHistorySettings settings;
    std::int64_t frame = 0;
    std::vector<PayerNumbers> payers;
    friend bool operator==(const LsfHistoryState&, const LsfHistoryState&) = default;
};

class LsfHistory {
  public:
    /// `nodes`: the size of the tree. REQUIRES: settings.validate().
    LsfHistory(std::uint32_t nodes, const LsfHistorySettings& settings);

    /// A job's life. `payer` is a leaf. Decay is continuous (LSF steps). O(1), and O(nodes) each eight half-lives.
    void start(NodeId payer, const LsfJob& job, Instant at);
    void end(NodeId payer, const LsfJob& job, Instant started, Instant ended);
    /// Undoes a job's start(). Used before a change of the settings for running jobs.
    void forget(NodeId payer, const LsfJob& job, Instant started);
    /// Past core time of which only the value at `at` is known; counted as CPU time and as run time.
    void remember(NodeId payer, CoreMicros worth, Instant at);
    /// CPU time measured between two instants, core-microseconds, taken as used evenly; it decays from when it was
    /// used.
    void cpu_used(NodeId payer, CoreMicros amount, Instant from, Instant to);

    /// Of one leaf. O(1).
    DynamicUse use(NodeId leaf, Instant now) const;
    /// Of every node, accounts summed, into old memory. O(nodes).
    void snapshot(const ShareTree& tree, Instant now, std::vector<DynamicUse>& into) const;

    /// Changes the settings. The value of the histories at `at` stays and decays anew from there. Finished jobs' run
    /// time is recorded whether or not it counts, so that it can be switched on and off. counts_cpus, counts_jobs and
    /// measures_cpu apply to jobs that start later. REQUIRES: they stay as they are while jobs run.
    void set_settings(const LsfHistorySettings& settings, Instant at);
    const LsfHistorySettings& settings() const { return settings_; }

    /// Changes the tree: places[i] is the new id of node i. Removed leaves are dropped.
    void rebind(std::span<const NodeId> places, std::uint32_t nodes);
    /// A tree that extends() the old one: ids stay. O(new leaves).
    void extend(std::uint32_t nodes) { cells_.resize(nodes); }
    LsfHistoryState save(const ShareTree& tree) const;
    /// Errors: as validate(); EINVAL for a payer that is no leaf of the tree, ERANGE for numbers out of range.
    static Result<LsfHistory> restore(const ShareTree& tree, const LsfHistoryState& state);

  private:
    struct Cell {
        __int128 cpu = 0, finished = 0, gpu_finished = 0;  // weights in the frame
        __int128 running = 0, gpu_running = 0;             // rate * weight(start), to be taken from rate * weight(now)
        __int128 committed = 0;                            // microseconds times rate
        std::int64_t rate = 0;                             // running slots or jobs
        std::int64_t gpus = 0;
        std::int64_t slots = 0;  // the slots term
        std::int64_t cpus = 0;   // slots that use CPU time: cpu lacks cpus * weight(now)
        void add(const Cell& other);
        void subtract(const Cell& other);
        bool is_empty() const;
    };
    void advance(Instant at);
    Cell begun(const LsfJob& job, Instant at) const;
    /// The weight of a date in the run time of running jobs.
    __int128 running_weight(Instant at) const;
    DynamicUse read(const Cell& cell, Instant now, const DecayFrame::Reading& reading) const;

    LsfHistorySettings settings_;
    DecayFrame decay_;
    std::vector<Cell> cells_;
};

}  // namespace weir
