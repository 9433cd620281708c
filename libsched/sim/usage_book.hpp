// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the usage of the parties of a replay, as the site counts it, and its resets by the calendar.
// Must not know jobs, priorities, algorithms.
#pragma once
#include <optional>
#include <vector>

#include "libfairshare/usage/counted_usage.hpp"
#include "libsched/config/policy_settings.hpp"

namespace weir {

class UsageBook {
  public:
    /// `unit`: UsageRules::unit.
    UsageBook(const PolicySettings& settings, ShareTreePtr tree, std::int64_t unit = 1);

    /// A job begins, or ends, to be charged. Events come in order of time.
    void start(const ChargedJob& job);
    void end(const ChargedJob& job, Instant ended);
    /// The same for a job that is charged as it runs.
    void start(NodeId payer, std::int64_t rate, Instant at) { start({payer, rate, at, {}}); }
    void end(NodeId payer, std::int64_t rate, Instant at) { start(payer, -rate, at); }

    /// Usage of every node now, resets that are due included. O(nodes), with windows O(nodes x depth).
    void snapshot(Instant now, std::vector<CoreMicros>& into);
    /// The ledger if usage decays by half-life or not at all, after resets that are due; else nothing.
    const UsageLedger* ledger(Instant now);

    /// The reset after the last event or reading; nothing without resets.
    std::optional<Instant> resets_next() const { return next_reset_; }

    /// Changes the tree: usage stays with its path.
    void follow(ShareTreePtr tree, Instant at);

  private:
    void reset_if_due(Instant now);

    CountedUsage kept_;
    ResetPeriod reset_;
    std::optional<Instant> next_reset_;
    UsageSnapshot snapshot_;  // memory between two readings
};

}  // namespace weir
