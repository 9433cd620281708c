// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payers of running jobs, and their charges in the ledger; each job and event counts once. Must not know: the
// journal, SQLite, priorities. The state log receives what must outlive the module.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/state/state_log.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// How usage is kept: always as exact core-seconds, and also as the site counts it if that differs.
struct Counting {
    Duration half_life{};             ///< of the core-seconds; 0: no decay
    std::optional<UsageRules> rules;  ///< in billing_unit parts of a core; none: the site counts core-seconds
};

/// A job that is being charged.
struct RunningJob {
    NodeId payer = unassociated;
    std::int64_t cores = 0;
    Instant start;
    std::uint64_t inside = 0;  ///< of a reported job: the reported job whose cores it uses; 0: the child's own job
    std::int64_t given = 0;    ///< cores that reported jobs inside it use
    std::size_t inner = 0;     ///< open reported jobs inside it
    Bill bill{};
    /// The time of the last report about its cores: no later report may be dated before it. Epoch: none.
    Instant told_until{};
    JobRun run{};  ///< not of reported jobs
};

/// A job that was ended with the job whose cores it used, or that outer job itself: its child may correct the end.
struct ClosedJob {
    RunningJob job;
    Instant end;
    DownlinkRow downlink;  ///< see ClosedRow
};

class Accounting {
  public:
    /// The number of ended jobs that are kept to recognise replays by the journal; beyond twice this number the older
    /// half is dropped and the floor raised.
    static constexpr std::size_t charged_kept = 20000;
    /// The number of closed jobs that are kept for corrections by their children; pruned in the same way.
    static constexpr std::size_t closed_kept = 20000;
    /// Reported jobs inside one another; a child has at most this many times its job's cores of them open.
    static constexpr std::size_t reported_depth_max = 8;

    /// \param log  takes the rows; outlives this
    Accounting(StateLog& log, ShareTreePtr tree, const Counting& counting);
    /// Restores the contents of the state file: checkpoint, charges since, running jobs. `tree` is the tree in force;
    /// members by `@*` are admitted again, charges to other paths that it lacks go to `unassociated`. REQUIRES: `log`
    /// was restored.
    static Result<Accounting> restore(StateLog& log, ShareTreePtr tree, const SavedState& saved,
                                      const Counting& counting, Instant now);

    // ---- events ----
    /// Begins to charge a run of a job. False, without effect, if it is or was charged (a replay). Another run of the
    /// same id without a known end ends at the log's position. O(depth + log jobs).
    bool start(const JobRun& run, NodeId payer, std::int64_t cores, Instant at, const Bill& bill);
    /// Ends it, not before its start. False, without effect, if it is not being charged.
    bool end(FluxJobId id, Instant at);
    /// Nobody pays for it between two instants, which are its own as far as it had begun. False, and nothing, when it
    /// is not being charged, was told of `to` before (a replay), or a child told of its cores.
    bool skip(FluxJobId id, Instant from, Instant to);
    /// Whether a run that freed its resources at `freed` has been charged to the end.
    bool is_charged(const JobRun& run, Instant freed) const;
    const RunningJob* find(FluxJobId id) const;
    const std::map<FluxJobId, RunningJob>& running() const { return running_; }
    /// The running jobs whose run the job-manager does not know. `seen`: the last run of each job that it knows.
    std::vector<FluxJobId> vanished(const std::map<FluxJobId, JobRun>& seen) const;

    // ---- children: part of a running job's rate is moved to a user inside it ----
    /// Moves `cores` (at most what other reported jobs left) of the rate of `child`, or of the reported job `inside`,
    /// to `payer` (none: who pays for them now) from `at` on, or from where that job's cores were last told of, if that
    /// is later: so no instant is told twice and no payer has less than nothing. Returns that time; nothing, and does
    /// nothing, when that job is not charged or has no core left, when `key` is open, or too deep. O(depth + log jobs).
    std::optional<Instant> report_start(ReportedKey key, std::uint64_t inside, std::optional<NodeId> payer,
                                        std::int64_t cores, Instant at);
    /// Moves them back, after those of every job inside it, and likewise returns when. Nothing, and does nothing, when
    /// `key` is not open.
    std::optional<Instant> report_end(ReportedKey key, Instant at);
    /// Before end() of a child instance's job: keeps what of it and of the jobs open in it its next life may correct,
    /// and where its record stream stands. O(jobs open in it).
    void close_child(FluxJobId child, const DownlinkRow& downlink, Instant at);
    const std::map<ReportedKey, ClosedJob>& closed() const { return closed_; }
    /// A closed job ended at `at`, or where its lender's cores were last told of, if that is later, not when the one
    /// around it did: its payer and who lent it the cores get the difference. False, and nothing, when `key` is not
    /// closed. O(depth).
    bool correct_end(ReportedKey key, Instant at);
    /// A job that began in a closed child's job and was not told of before: charged from `at` (see correct_end()) to
    /// that job's end, until correct_end() says more. False, and nothing, when `key` is known, its child is not closed,
    /// or no core is left. O(depth + closed jobs of the child).
    bool report_past(ReportedKey key, std::uint64_t inside, std::optional<NodeId> payer, std::int64_t cores,
                     Instant at);
    /// From `at` on, or from its start, if that is later, `payer` pays for a running job. False, and nothing, when he
    /// does, when it does not run, or when its cores were reported.
    bool move_payer(FluxJobId id, NodeId payer, Instant at);
    const std::map<ReportedKey, RunningJob>& reported() const { return reported_; }

    // ---- tree ----
    const ShareTree& tree() const { return ledger_.tree(); }
    const ShareTreePtr& tree_ptr() const { return ledger_.tree_ptr(); }
    /// The leaf of an association. A member by an `@*` line who has no leaf yet gets one now: the tree grows.
    /// \returns `unassociated` where the account has no `@*` line any more
    NodeId admit(const Association& association, const std::string& user);
    /// Leaves for all of these (account, user) that an `@*` line admits and that have none: one copy of the tree.
    void admit(const std::vector<std::pair<NodeId, std::string>>& members);
    /// Another tree: usage and running jobs follow their paths. Logs nothing: see rewrite().
    void rebind(ShareTreePtr tree, Instant at);
    /// Puts every row that names a path into `log`, and wants a checkpoint there.
    void rewrite(StateLog& log) const;
    /// Usage at `at` stays the same as far as the new way of counting allows (CountedUsage::set_rules()). If the site
    /// begins to count in its own way, it starts from the core-seconds, and running jobs are charged as they run.
    void configure(const Counting& counting, Instant at);
    /// Clears decayed usage at the last boundary of `period` that passed up to `at`, if one did since the last event or
    /// reset. Call it before an event dated `at` is applied; then the result does not depend on the times of the calls.
    /// O(1), O(size) at a reset.
    void reset_due(ResetPeriod period, Instant at, Duration utc_offset);
    /// Clears decayed usage now (period `now`: at each start).
    void reset(Instant at);

    /// Exact core-seconds that were delivered, independent of their cost.
    const UsageLedger& ledger() const { return ledger_; }
    /// Usage of every node as the site counts it, for fair share. O(size).
    void measure(Instant now, UsageSnapshot& into) const;
    /// Further inputs of dynamic priorities; none unless the site's rules have a history. O(size).
    void measure_use(Instant now, std::vector<DynamicUse>& into) const;
    /// The checkpoint for StateLog::take().
    LedgerCheckpoint checkpoint() const;

  private:
    void extend(ShareTree grown);
    void post(NodeId payer, std::int64_t rate, Instant at);
    // As the site counts: accounting_counted.cpp.
    static CountedJob billed(const RunningJob& job);
    static CountedJob lent(const RunningJob& from, const RunningJob& inner);
    void count_start(const CountedJob& job);
    void count_end(const CountedJob& job, Instant at);
    std::vector<CountedJob> open_jobs();
    Status restore_counted(const SavedState& saved);
    void begin_to_count(const UsageRules& rules, Instant at);
    RunningRow row_of(const RunningJob& job) const;
    bool was_charged(const JobRun& run) const;
    void prune_charged();
    RunningJob* giver(FluxJobId child, std::uint64_t inside);
    bool is_too_deep(const ReportedKey& key, std::uint64_t inside) const;
    Instant tell(FluxJobId child, std::uint64_t inside, RunningJob& giver, Instant at);
    void close(std::map<ReportedKey, RunningJob>::iterator reported, Instant at);
    void end_inside(FluxJobId child, std::uint64_t inside, Instant at);
    void pay(NodeId payer, std::int64_t cores, std::int64_t rate, Instant from, Instant to);
    void lend_between(const ClosedJob& closed, std::uint64_t child, Instant from, Instant to, int sign);
    Instant tell_closed(ReportedKey lender, Instant at);
    std::int64_t closed_cores_left(ReportedKey lender) const;
    void keep_closed(ReportedKey key, ClosedJob closed);
    void prune_closed();

    StateLog* log_;  // a pointer, so that a copy may replace this
    UsageLedger ledger_;
    std::optional<CountedUsage> counted_;  // receives the same events as ledger_
    std::map<FluxJobId, RunningJob> running_;
    std::map<ReportedKey, RunningJob> reported_;  // start and cores as moved; ends with its child
    std::map<ReportedKey, ClosedJob> closed_;
    std::map<JobRun, Instant> charged_;
    Instant reset_from_;  ///< boundaries up to here need no reset
};

}  // namespace weir::priority
