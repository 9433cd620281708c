// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what must be sent about each job: to the plugin, to a scheduler that takes the order, to the job-manager
// (memos), to the parent and to the children. Must not know: how a value is computed, how anything is sent.
#pragma once
#include <set>

#include "modules/common/memos.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/sends/factor_rows.hpp"
#include "modules/job-priority/sends/order_feed.hpp"
#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/sends/uplink.hpp"

namespace weir::priority {

class Sends {
  public:
    /// \param is_child  there is a parent instance   \param log  outlives this
    Sends(StateLog& log, bool is_child) : uplink_(log, is_child) {}

    /// A job that is no longer pending needs no values; a held or expedited one has none.
    void apply(const AppliedEvent& applied);
    /// Whether a limit or a cap keeps a pending job from starting: its priority is 0, and its memo says why.
    void hold_back(FluxJobId id, bool is_held_back);
    /// A new journal stream: the job-manager lost the memos.
    void begin_backlog() { memos_.restart(); }
    /// The pending jobs of the backlog; values of any other are forgotten.
    void end_backlog(const std::set<FluxJobId>& pending);

    /// Priorities, for the plugin.
    Pusher& plugin() { return plugin_; }
    const Pusher& plugin() const { return plugin_; }
    /// The order of all jobs for a scheduler that takes it; empty for any other.
    OrderFeed& scheduler() { return scheduler_; }
    const OrderFeed& scheduler() const { return scheduler_; }
    flux::Memos& memos() { return memos_; }
    /// For the parent.
    Uplink& uplink() { return uplink_; }
    /// For the children.
    FactorPublication& factors() { return factors_; }

  private:
    Pusher plugin_;
    OrderFeed scheduler_;
    flux::Memos memos_;
    Uplink uplink_;
    FactorPublication factors_;
};

}  // namespace weir::priority
