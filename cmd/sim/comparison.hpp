// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the comparison of policies on one log: for each policy its figures and the series for the pictures. Pure: from
// outcomes to values. Must not know files, threads, nor how anything is shown.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/sim/partition_figures.hpp"
#include "cmd/sim/provenance.hpp"
#include "cmd/sim/without_shares.hpp"
#include "libsched/sim/fair_start.hpp"
#include "libsched/sim/fairness.hpp"
#include "libsched/sim/usage_history.hpp"

namespace weir::cmd {

/// The common basis of measurement for all policies.
struct Yardstick {
    std::string log;  ///< its name without folders
    std::int64_t cores = 0;
    std::uint64_t jobs = 0;
    /// Whose shares: "shares.toml", or empty: equal shares for all users, for all groups.
    std::string share_tree;
    Duration half_life = std::chrono::hours(24 * 7);  ///< of the usage that is shown
    /// By place in the log. Accounts may be the same tree as users (a share tree) or another (a log's groups).
    PartyTree accounts, users;
    std::size_t accounts_level = 0;  ///< that is compared, by index: below the single accounts on top
    std::size_t users_level = 0;     ///< the same of `users`
};

/// The result of a replay.
struct Replayed {
    std::string name;
    std::string scheduler;
    std::string order;                         ///< what orders the queue: "submission", "multifactor", ...
    bool is_complete = true;                   ///< false: cut off; the figures are of the jobs that started until then
    std::vector<Outcome> outcomes;             ///< in the log's order
    std::vector<FairStart> fair;               ///< of the measured jobs, in the order of measurement
    std::vector<PartitionFigures> partitions;  ///< without figures; none: one pool
    Skipped refused;                           ///< jobs that no partition could hold
    NeverStarted never_started;
    WithoutShares without_shares;  ///< in the policy's own tree
};

/// A job drawn in the window: its cores and its time.
struct WindowJob {
    Outcome outcome;
    std::vector<std::pair<double, double>> cores;  ///< from, to: the machine's cores as a line
};

struct Measured {
    std::string name, scheduler, order;
    bool is_complete = true;
    JobMetrics jobs;
    MachineMetrics machine;
    LevelMetrics accounts, users;
    std::vector<PartyMetrics> by_account;  ///< by place in Yardstick::accounts
    std::vector<PartyMetrics> by_user;     ///< by place in Yardstick::users
    EqualityMetrics equality;
    std::optional<FairStartMetrics> fair_start;
    bool is_fair_start_sampled() const { return fair_start && fair_start->jobs < jobs.jobs; }
    double level_fs_error = 0;  ///< mean over the ends of days
    std::vector<PartitionFigures> partitions;
    Skipped refused;
    NeverStarted never_started;
    WithoutShares without_shares;

    std::vector<MachineSample> load;
    std::vector<UsageSample> usage;                    ///< of Yardstick::accounts
    std::vector<std::pair<double, double>> wait_ecdf;  ///< wait s, part of jobs that waited at most so long
    std::vector<WindowJob> window;
};

struct Comparison {
    Yardstick yardstick;
    Instant begin, end;                ///< first submission, last end under any policy
    Instant window_begin, window_end;  ///< the stretch drawn job by job
    std::vector<Measured> policies;
    std::uint64_t fair_starts_planned = 0;  ///< jobs to be looked at under each policy; 0: none
    Provenance provenance;
};

/// Figures and series of one replay; all but its window. O(n log n).
Measured measured(const Yardstick& yardstick, const Replayed& replayed);
/// The window: around the moment at which pending jobs request most cores under the first policy; a day long, or
/// shorter if more than 300 jobs ran in it under some policy.
std::pair<Instant, Instant> window_of(const std::vector<Replayed>& replays, const Measured& first);
/// The jobs that run in the window, those of no run time left out, each on the lowest cores that are free when it
/// starts. O(n + jobs^2).
std::vector<WindowJob> window_jobs(const std::vector<Outcome>& outcomes, std::int64_t cores, Instant from, Instant to);

/// Sets the figures of fair starts, of the jobs that were measured under every policy with fair starts.
void measure_fair_starts(std::vector<Measured>& measures, std::vector<Replayed>& replays);

/// All of it; `replays` and `measures` belong together by place.
Comparison compared(Yardstick yardstick, const std::vector<Replayed>& replays, std::vector<Measured> measures);

}  // namespace weir::cmd
