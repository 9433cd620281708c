// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage by payer, in two ledgers that get the same events: exact core-seconds, and usage as the site counts it,
// if that differs. Each change is also a row of the state log. The tree is the ledgers': they know each payer by its
// node. Must not know: which jobs there are, who reported them.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/tree/payer.hpp"
#include "libfairshare/usage/counted_usage.hpp"
#include "libfairshare/usage/reset.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/charges/running_job.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

/// How usage is kept: always as exact core-seconds, and also as the site counts it if that differs.
struct Counting {
    Duration half_life{};             ///< of the core-seconds; 0: no decay
    std::optional<UsageRules> rules;  ///< in billing_unit parts of a core; none: the site counts core-seconds
};

/// "physics/lattice/@alice" -> ("physics/lattice", "alice"); nothing when it is no user's path.
std::optional<std::pair<std::string, std::string>> account_and_user(const std::string& path);

class Ledgers {
  public:
    /// \param log  takes the rows; outlives this
    Ledgers(StateLog& log, ShareTreePtr tree, const Counting& counting);
    /// The checkpoint and the charges since. Usage is counted by the rules of the checkpoint: see configure().
    /// Errors: what the ledgers' restore() returns, or usage in another unit.
    static Result<Ledgers> restore(StateLog& log, ShareTreePtr tree, const SavedState& saved);

    // ---- charges. O(depth) each ----
    /// The job's payer is charged from its start on.
    void open(const RunningJob& job);
    /// The charge that open() began ends. REQUIRES: `job` has the same values; `at` is not before its start.
    void close(const RunningJob& job, Instant at);
    /// The same of a job that uses cores of `from`, whose payer does not pay for them meanwhile.
    void open_inside(const RunningJob& from, const RunningJob& inner);
    void close_inside(const RunningJob& from, const RunningJob& inner, Instant at);
    /// The payer of `job` pays for `cores` (negative: less) at `rate` between two instants of the past.
    void pay(const RunningJob& job, std::int64_t cores, std::int64_t rate, Instant from, Instant to);

    // ---- the tree ----
    const ShareTree& tree() const { return core_seconds_.tree(); }
    const ShareTreePtr& tree_ptr() const { return core_seconds_.tree_ptr(); }
    /// The leaf of an association. A member by an `@*` line without a leaf gets one: the tree grows.
    /// \return `unassociated` if the account has no `@*` line any more
    NodeId admit(const Association& association, const std::string& user);
    /// Leaves for all of these (account, user) that an `@*` line admits and that have none: one copy of the tree.
    void admit(const std::vector<std::pair<NodeId, std::string>>& members);
    /// `lines`, a tree without members, with those that its `@*` lines have once it is in force: the present members,
    /// who move with their account, and who has usage and loses his line or had none, so that his usage stays his.
    /// O(size).
    ShareTree with_members(const ShareTree& lines) const;
    /// Replaces the tree, which has its members: usage follows its path. Logs nothing: a checkpoint must follow.
    /// \return by old node, the new payer
    std::vector<NodeId> rebind(ShareTreePtr tree, Instant at);
    /// After rebind(): the payer of a job of open(), whose leaf an earlier rebind() removed, is charged for it from
    /// `at` on; the same for a job of open_inside(), where it is that of `from`. Logs nothing, like rebind().
    void charge_returned(const RunningJob& job, Instant at);
    void lend_returned(const RunningJob& from, const RunningJob& inner, Instant at);

    // ---- how usage is counted ----
    /// Whether these rules count in the site's own way, and the present ones do not.
    bool begins_to_count(const Counting& counting) const { return counting.rules && !counted_; }
    /// The charge of a job of open(), and what `from` is charged less for one of open_inside(), for configure().
    static CountedJob counted(const RunningJob& job);
    static CountedJob counted_lent(const RunningJob& from, const RunningJob& inner);
    /// Usage at `at` stays the same as far as the new way of counting allows (CountedUsage::set_rules()). If the site
    /// begins to count in its own way, it starts from the core-seconds, and running jobs are charged as they run.
    /// \param running  every charge of open() and open_inside() that has not ended
    void configure(const Counting& counting, std::span<const CountedJob> running, Instant at);
    /// Clears decayed usage at the last boundary of `period` that passed up to `at`, if one did since the last event or
    /// reset. Call it before an event dated `at` is applied; then the result does not depend on the times of the calls.
    /// O(1), O(size) at a reset.
    void reset_due(ResetPeriod period, Instant at, Duration utc_offset);
    /// Clears decayed usage now (period `now`: at each start).
    void reset(Instant at);
    /// Whether there was usage to reset, and it was, since the last call.
    bool take_was_reset() { return std::exchange(was_reset_, false); }

    // ---- usage ----
    /// Exact core-seconds that were delivered, independent of their cost.
    const UsageLedger& core_seconds() const { return core_seconds_; }
    /// Usage of every node as the site counts it, for fair share. O(size).
    void measure(Instant now, UsageSnapshot& into) const;
    /// Further inputs of dynamic priorities; none unless the site's rules have a history. O(size).
    void measure_use(Instant now, std::vector<DynamicUse>& into) const;
    /// The checkpoint for StateLog::take().
    LedgerCheckpoint checkpoint() const;

    StateLog& log() const { return *log_; }

  private:
    void post(NodeId payer, std::int64_t rate, Instant at);
    void move(NodeId from, NodeId to, std::int64_t rate, Instant at);
    void checkpoint_after(std::int64_t frame);
    void move_from_nobody(NodeId payer, std::int64_t rate, Instant at);
    void book(const RunningJob& job, std::int64_t cores, Instant from, Instant to);
    void count_start(const CountedJob& job);
    void count_end(const CountedJob& job, Instant at);
    void extend(ShareTree grown);
    Status restore_counted(const SavedState& saved);

    StateLog* log_;  // a pointer, so that a copy may replace this
    UsageLedger core_seconds_;
    std::optional<CountedUsage> counted_;
    Instant reset_from_;  ///< boundaries up to here need no reset
    bool was_reset_ = false;
};

}  // namespace weir::priority
