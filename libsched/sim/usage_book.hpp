// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the parties of a replay used, under the decay that the site chose: half-life, windows, or none with resets
// by the calendar. Must not know jobs, priorities, algorithms.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "libfairshare/usage/usage_ledger.hpp"
#include "libfairshare/usage/window.hpp"
#include "libsched/config/policy_settings.hpp"

namespace weir {

class UsageBook {
  public:
    UsageBook(const PolicySettings& settings, ShareTreePtr tree);

    /// A job that bills `rate` cores begins, or ends, to be paid by `payer`. Events come in order of time.
    void start(NodeId payer, std::int64_t rate, Instant at);
    void end(NodeId payer, std::int64_t rate, Instant at) { start(payer, -rate, at); }

    /// Usage of every node now, resets that are due included. O(nodes), with windows O(nodes x depth).
    void snapshot(Instant now, std::vector<CoreMicros>& into);
    const ShareTreePtr& tree() const { return tree_; }
    /// The ledger where usage decays by half-life or not at all, resets that are due included; else nothing.
    const UsageLedger* ledger(Instant now);

    /// Another tree: usage stays with its path.
    void follow(ShareTreePtr tree, Instant at);

  private:
    void reset_if_due(Instant now);

    ShareTreePtr tree_;
    std::variant<UsageLedger, WindowLedger> kept_;
    ResetPeriod reset_;
    std::optional<Instant> next_reset_;
};

}  // namespace weir
