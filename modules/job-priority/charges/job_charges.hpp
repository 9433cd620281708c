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
#include "modules/job-priority/jobs/wait_histogram.hpp"
#include "modules/job-priority/sends/uplink.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

class JobCharges {
  public:
    /// All outlive this.
    JobCharges(const Settings& settings, const JobBook& book, UserNames& users, Accounting& accounting, Uplink& uplink)
        : settings_(settings), book_(book), users_(users), accounting_(accounting), uplink_(uplink) {}

    /// From its start to its end a job's payer (`idle` for a partition) is charged for its resources. A broker that was
    /// down while the job held resources (DownEvent, UpEvent) counts as an end and a new start. A replay changes
    /// nothing. False if the usage of its payer goes on as before: the event is no start and no end, or the child
    /// instance that runs the job reports its usage.
    bool apply(const AppliedEvent& applied);

    /// Whether no event of a run that freed its resources at `freed` is needed any more: it is charged to its end.
    bool is_past(const JobRun& run, Instant freed) const;
    /// Ends, where it was last seen, each running job whose run is not among `runs`. Returns them.
    std::vector<FluxJobId> end_vanished(const std::map<FluxJobId, JobRun>& runs, Instant last_seen);
    /// Ends, where it was last seen, each running job that holds no resources by the book.
    void end_unheld(Instant last_seen);
    /// Jobs ended by the two.
    std::uint64_t vanished() const { return vanished_; }
    /// Jobs that ended while the module was not running, charged from a backlog.
    std::uint64_t rebuilt() const { return rebuilt_; }
    /// The waits of all jobs that started while the module was running, jobs in children included.
    const WaitHistogram& waits() const { return waits_; }

    /// The user database answers again. A running job whose user could not be looked up at its start is charged, from
    /// its start on, to the payer that `resolve` returns.
    void settle_doubts(const std::function<NodeId(const BookJob&)>& resolve);

  private:
    bool start(const BookJob& job, const JobEvent& event);
    bool end(const BookJob& job, Instant at);
    void follow_broker(const BookJob& job, const JobEvent& event);
    void end_all(const std::vector<FluxJobId>& ids, Instant last_seen);

    const Settings& settings_;
    const JobBook& book_;
    UserNames& users_;
    Accounting& accounting_;
    Uplink& uplink_;
    std::set<FluxJobId> paid_in_doubt_;  ///< running jobs whose user could not be looked up when they started
    std::set<FluxJobId> resumed_;        ///< jobs whose DownEvent was applied, and whose UpEvent was not yet
    std::uint64_t vanished_ = 0;
    std::uint64_t rebuilt_ = 0;
    WaitHistogram waits_;
};

}  // namespace weir::priority
