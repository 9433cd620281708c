// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who pays for each job that holds resources: our own jobs, and those that child instances report inside them.
// Each run and each report counts once. Must not know: the journal, SQLite, priorities, which reports are believed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "modules/job-priority/charges/charged_runs.hpp"
#include "modules/job-priority/charges/closed_jobs.hpp"
#include "modules/job-priority/charges/inside_index.hpp"
#include "modules/job-priority/charges/ledgers.hpp"
#include "modules/job-priority/charges/running_job.hpp"
#include "modules/job-priority/charges/usage_hours.hpp"
#include "modules/job-priority/jobs/job_event.hpp"

namespace weir::priority {

/// An ordered map: with a hash table a guest, who chooses the numbers of his jobs, could choose colliding ones.
using ReportedJobs = std::map<ReportedKey, RunningJob>;

/// The source of the rows that it marks.
class Accounting : public RowSource {
  public:
    /// Reported jobs inside one another; a child has at most this many times its job's cores of them open.
    static constexpr std::size_t reported_depth_max = 8;

    /// \param log  takes the rows; outlives this
    Accounting(StateLog& log, ShareTreePtr tree, const Counting& counting);
    /// Restores the contents of the state file: checkpoint, charges since, running jobs. `tree` is the tree in force;
    /// members by `@*` are admitted again, charges to other paths that it lacks go to `unassociated`. REQUIRES: `log`
    /// was restored.
    static Result<Accounting> restore(StateLog& log, ShareTreePtr tree, const SavedState& saved,
                                      const Counting& counting, Instant now);

    // ---- our own jobs ----
    /// Begins to charge a run of a job. False, without effect, if it is or was charged (a replay). Another run of the
    /// same id without a known end ends at the log's position. O(depth + log jobs).
    bool start(const JobRun& run, NodeId payer, std::int64_t cores, Instant at, const Bill& bill);
    /// Ends it, not before its start. False, without effect, if it is not being charged.
    bool end(FluxJobId id, Instant at);
    /// The job is not charged between two instants after its start. False, without effect, if it is not being charged,
    /// if it began at `to` or later (a replay), or if a child reported about its cores.
    bool skip(FluxJobId id, Instant from, Instant to);
    /// `payer` pays for a running job from `at` on, or from its start if that is later. False, without effect, if
    /// `payer` pays already, if the job does not run, or if a child reported about its cores.
    bool move_payer(FluxJobId id, NodeId payer, Instant at);
    /// Whether a run that freed its resources at `freed` has been charged to the end.
    bool is_charged(const JobRun& run, Instant freed) const;
    const RunningJob* find(FluxJobId id) const;
    /// In no order.
    const std::unordered_map<FluxJobId, RunningJob>& running() const { return running_; }
    /// The ids of running(), ascending. O(jobs log jobs).
    std::vector<FluxJobId> running_ids() const;
    /// The running jobs whose run is unknown to the job-manager, ascending. `seen`: the last run of each job that it
    /// knows.
    std::vector<FluxJobId> vanished(const std::map<FluxJobId, JobRun>& seen) const;

    // ---- children: part of a running job's rate is moved to a user inside it ----
    /// Moves cores, at most what other reported jobs left, of the rate of `child`, or of the reported job
    /// `start.inside`, to `start.payer` from `start.at` on, or from the last report about that job's cores, if that is
    /// later. So no instant is reported twice and no payer's rate is negative. Returns the job; null, without
    /// effect, if that job is not charged or has no core left, if `key` is open, or too deep. O(depth + log jobs).
    const RunningJob* report_start(ReportedKey key, const ReportedStart& start);
    /// Moves them back, after those of every job inside it, and likewise dated; returns when.
    /// \param is_kept  if it is an instance, its next life may correct what was open in it: as close_child()
    Instant report_end(ReportedJobs::const_iterator job, Instant at, bool is_kept);
    const ReportedJobs& reported() const { return reported_; }
    /// Call before end() of a child instance's job. Keeps what its next life may correct, of it and of the jobs open in
    /// it, and the position of its record stream. O(jobs open in it).
    void close_child(FluxJobId child, const DownlinkRow& downlink, Instant at);
    const std::map<ReportedKey, ClosedJob>& closed() const { return closed_.all(); }
    /// See ClosedJobs.
    void name_life(FluxJobId life, const std::string& instance) { closed_.name_life(ledgers_, life, instance); }
    /// See ClosedJobs.
    bool correct_end(ReportedKey key, Instant at) { return closed_.correct_end(ledgers_, key, at); }
    bool report_past(ReportedKey key, const ReportedStart& start) {
        return reported_.count(key) == 0 && closed_.report_past(ledgers_, key, start);
    }

    // ---- tree and usage ----
    /// The ledgers, for changes that concern no job: the tree grows, or usage is reset.
    Ledgers& ledgers() { return ledgers_; }
    const Ledgers& ledgers() const { return ledgers_; }
    const ShareTree& tree() const { return ledgers_.tree(); }
    const ShareTreePtr& tree_ptr() const { return ledgers_.tree_ptr(); }
    /// Exact core-seconds that were delivered, independent of their cost.
    const UsageLedger& ledger() const { return ledgers_.core_seconds(); }
    /// Usage of every node as the site counts it, for fair share. O(size).
    void measure(Instant now, UsageSnapshot& into) const { ledgers_.measure(now, into); }
    /// The running jobs, for usage up to `now`: (job, cores, since). Cores that another job uses are subtracted.
    void each_open(const std::function<void(const RunningJob&, std::int64_t, Instant)>& take) const;
    /// Replaces the tree, which has its members: usage and running jobs follow their paths. Those of a leaf that it
    /// removes are nobody's from `at` on, until a tree has the leaf again. Logs nothing: see rewrite().
    /// \return by old node, the new payer
    std::vector<NodeId> rebind(ShareTreePtr tree, Instant at);
    /// Marks every row that names a path in `log`, and requests a checkpoint there.
    void rewrite(StateLog& log) const;

    // ---- rows: see RowSource ----
    LedgerCheckpoint checkpoint() const override { return ledgers_.checkpoint(); }
    std::string path_of(NodeId payer) const override { return payer_path(tree(), payer); }
    std::optional<PayerState> row_of_payer(NodeId payer) const override { return ledger().saved(payer); }
    UsageSlot slot_of(const HourOfPayer& hour) const override { return usage_slot(tree(), hour); }
    std::optional<RunningRow> row_of_running(FluxJobId id) const override;
    std::optional<RunningRow> row_of_reported(ReportedKey key) const override;
    std::optional<ClosedRow> row_of_closed(ReportedKey key) const override;
    /// Changes how usage is counted: see Ledgers::configure().
    void configure(const Counting& counting, Instant at);

  private:
    explicit Accounting(Ledgers ledgers) : ledgers_(std::move(ledgers)) {}
    void restore_jobs(const SavedState& saved);
    void resume(FluxJobId id, RunningJob& job, Instant pause, NodeId payer, Instant start);
    void charge_returned(Instant at);
    std::vector<CountedJob> open_jobs();
    // Reported jobs: accounting_reported.cpp.
    RunningJob* lender(FluxJobId child, std::uint64_t inside);
    const RunningJob* lender(FluxJobId child, std::uint64_t inside) const {
        return const_cast<Accounting*>(this)->lender(child, inside);
    }
    bool is_too_deep(const ReportedKey& key, std::uint64_t inside) const;
    Instant told_until(const ReportedKey& of, const RunningJob& job) const;
    Instant date_report(FluxJobId child, std::uint64_t inside, RunningJob& lender, Instant at);
    void close(ReportedJobs::const_iterator reported, Instant at);
    void end_inside(ReportedKey around, Instant at);
    void end_all_of(FluxJobId child, Instant at);
    void keep_with_inside(ReportedKey key, Instant at, bool is_told);

    Ledgers ledgers_;
    std::unordered_map<FluxJobId, RunningJob> running_;
    ReportedJobs reported_;  // start and cores as moved; ends with its child
    InsideIndex inside_;     // of reported_, but for those directly in a child's own job
    ClosedJobs closed_;
    ChargedRuns charged_;
};

}  // namespace weir::priority
