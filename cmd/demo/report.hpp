// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the results of a run: from job records to shares, waits and slowdowns per account. Pure. Must not know where
// the records come from.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// A priority at the parent, until the next one.
struct PriorityStep {
    Instant at{};
    std::int64_t priority = 0;
};

/// One job as its child instance ran it. Times are scaled ones.
struct JobRecord {
    std::uint64_t id = 0;        ///< at the parent
    std::uint64_t child_id = 0;  ///< at the child
    std::string user, account, queue, partition, result;
    std::int64_t cores = 0;
    std::int64_t recalled_core_us = 0;  ///< charged for allocations that were released before a start
    Instant submit{}, alloc{}, free{};
    Instant recorded{};  ///< the allocation, at the parent
    Duration requested{};
    std::vector<PriorityStep> priorities = {};  ///< in order of time
    std::vector<Instant> moves = {};  ///< in order of time: it was given to a child, or a child had returned it
    bool has_run() const { return free > alloc; }
};

/// A node of the tree with its entitlement, parents before children.
struct Entitlement {
    std::string path;
    double share = 0;  ///< of the machine, in [0,1]
};

struct AccountRow {
    std::string path;
    double entitled = 0;   ///< part of the machine
    double asked = 0;      ///< part of all core-seconds of the workload
    double delivered = 0;  ///< part of the core-seconds delivered in the window
    double ratio = 0;      ///< delivered / entitled
    std::int64_t jobs = 0;
    Duration wait_median{};
    double slowdown_median = 0;
    double slowdown_mean = 0;
};

/// The interval over which shares are compared: while jobs were still coming.
struct Window {
    Instant begin{}, end{};
};

/// The path of the node that is charged: "physics/lattice/@alice".
std::string association(const JobRecord& job);
bool is_at_or_below(const std::string& path, const std::string& node);
/// Core-microseconds of a job inside a window; the whole job with no window.
std::int64_t core_us(const JobRecord& job);
std::int64_t core_us(const JobRecord& job, const Window& window);

/// One row for each node of `tree`. A job counts for its association `account/@user` and all accounts above it.
/// Jobs that never ran count as jobs, not in waits. Medians: lower middle of an even count.
std::vector<AccountRow> account_rows(const std::vector<JobRecord>& jobs, const std::vector<Entitlement>& tree,
                                     const Window& window);

/// Core-microseconds by node path, for whole jobs: the amounts that the ledger must have charged, to the digit. "" is
/// the total.
std::map<std::string, std::int64_t> core_us_by_path(const std::vector<JobRecord>& jobs);

}  // namespace weir::cmd
