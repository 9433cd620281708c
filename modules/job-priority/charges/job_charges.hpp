// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the effects of the start and the end of a job of our own on the accounting and on the reports to the parent.
// Must not know: priorities, the journal, how a payer is found.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/jobs/user_names.hpp"
#include "modules/job-priority/sends/uplink.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

class JobCharges {
  public:
    /// All outlive this.
    JobCharges(const Settings& settings, const JobBook& book, UserNames& users, Accounting& accounting, Uplink& uplink)
        : settings_(settings), book_(book), users_(users), accounting_(accounting), uplink_(uplink) {}

    /// The job got resources: its payer (idle for a partition) is charged for them. A replay changes nothing. False,
    /// without effect, if the child instance that runs the job reports its usage. REQUIRES: the event is an alloc.
    bool started(const BookJob& job, const JobEvent& event);
    /// It freed them. False, without effect, if it is not being charged.
    bool ended(const BookJob& job, Instant at);

    /// The broker went and came back while the job held resources (DownEvent, UpEvent): it is charged as if it had
    /// given them back and got them again. No other event changes anything, nor does a replay.
    void follow_broker(const BookJob& job, const JobEvent& event);

    /// Ends, where it was last seen, each running job whose run is not among `runs`. Returns them.
    std::vector<FluxJobId> end_vanished(const std::map<FluxJobId, JobRun>& runs, Instant last_seen);
    /// Ends, where it was last seen, each running job that holds no resources by the book.
    void end_unheld(Instant last_seen);
    /// Jobs ended by the two.
    std::uint64_t vanished() const { return vanished_; }

    /// Users can be looked up again: whoever `resolve` names pays, from its start on, for a running job whose user
    /// could not be looked up then.
    void settle_doubts(const std::function<NodeId(const BookJob&)>& resolve);

  private:
    void end_all(const std::vector<FluxJobId>& ids, Instant last_seen);

    const Settings& settings_;
    const JobBook& book_;
    UserNames& users_;
    Accounting& accounting_;
    Uplink& uplink_;
    std::set<FluxJobId> paid_in_doubt_;  ///< running jobs whose user could not be looked up when they started
    std::set<FluxJobId> resumed_;        ///< jobs whose DownEvent was applied and whose UpEvent is to come
    std::uint64_t vanished_ = 0;
};

}  // namespace weir::priority
