// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the facts about a job that is or was charged, and its rows in the state file.
// Must not know: when a job is charged, the ledgers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// A job that is being charged.
struct RunningJob {
    NodeId payer = unassociated;
    std::int64_t cores = 0;
    Instant start;
    std::uint64_t inside = 0;  ///< of a reported job: the reported job whose cores it uses; 0: the child's own job
    std::int64_t given = 0;    ///< cores that reported jobs inside it use
    Bill bill{};
    /// The time of the last report about its cores: no later report may be dated before it. Epoch: none.
    Instant told_until{};
    JobRun run{};             ///< not of reported jobs
    std::uint64_t above = 0;  ///< of a reported job: its name in records to our own parent
    /// The path of the leaf that paid until a change of the tree removed it: the leaf pays again when it is back.
    std::string departed{};

    /// The rate of a job that uses `part` of its cores, rounded down.
    std::int64_t rate_of(std::int64_t part) const {
        return static_cast<std::int64_t>(static_cast<__int128>(bill.rate) * part / cores);
    }
};

/// A child's report that a job inside it began.
struct ReportedStart {
    std::uint64_t inside = 0;     ///< as in RunningJob
    std::optional<NodeId> payer;  ///< none: the present payer of the cores
    std::int64_t cores = 0;       ///< at most; others may use the rest already
    Instant at;
    Bill bill{};
    bool costs_its_part = false;  ///< of the job whose cores it uses, whatever the bill's rate is
    std::uint64_t above = 0;      ///< as in RunningJob
};

/// The reported job, at first. REQUIRES: 0 < cores <= start.cores.
inline RunningJob job_of(const ReportedStart& start, const RunningJob& lender, std::int64_t cores, Instant at) {
    RunningJob job{.payer = start.payer.value_or(lender.payer),
                   .cores = cores,
                   .start = at,
                   .inside = start.inside,
                   .bill = start.bill,
                   .above = start.above,
                   .departed = start.payer ? std::string() : lender.departed};
    if (start.costs_its_part) {
        job.bill.rate = lender.rate_of(cores);
    } else if (cores < start.cores) {
        job.bill.rate = static_cast<std::int64_t>(static_cast<__int128>(job.bill.rate) * cores / start.cores);
    }
    return job;
}

/// A job that was ended with the job whose cores it used, or that outer job itself: its child may correct the end.
struct ClosedJob {
    RunningJob job;
    Instant end;
    DownlinkRow downlink;  ///< see ClosedRow
    bool is_told = false;  ///< see ClosedRow
};

/// After another tree is in force. \param moved  by node of the tree `before`, who pays now
inline void follow_tree(RunningJob& job, const ShareTree& before, std::span<const NodeId> moved) {
    if (!is_in_tree(job.payer)) {
        return;
    }
    const NodeId old = std::exchange(job.payer, moved[job.payer.value]);
    job.departed = job.payer == unassociated ? before.path(old) : std::string();
}

/// \param tree  the tree in force: rows name the payer's path in it, or that of the leaf that departed
inline RunningRow row_of(const ShareTree& tree, const RunningJob& job) {
    return {job.payer == unassociated ? job.departed : payer_path(tree, job.payer),
            job.cores,
            job.start,
            job.inside,
            job.bill,
            job.told_until,
            job.run,
            job.above};
}

inline ClosedRow row_of(const ShareTree& tree, const ClosedJob& closed) {
    return {row_of(tree, closed.job), closed.end, closed.downlink, closed.is_told};
}

/// A path that the tree lacks is that of a leaf that departed. The row does not contain the cores that other jobs use.
inline RunningJob job_of(const ShareTree& tree, const RunningRow& row) {
    const NodeId payer = payer_at(tree, row.path);
    return {.payer = payer,
            .cores = row.cores,
            .start = row.start,
            .inside = row.inside,
            .bill = row.bill,
            .told_until = row.told_until,
            .run = row.run,
            .above = row.above,
            .departed = payer == unassociated ? row.path : std::string()};
}

}  // namespace weir::priority
