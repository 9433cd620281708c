// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order in which the stages are called: book, payers, charges, ranking, gate, sends; for an event, for a
// pass, and when their inputs change. doc/architecture.md describes the path of one event. Must not know: Flux, JSON,
// SQLite, clocks; what a stage does.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/limits/limit_counts.hpp"
#include "modules/job-priority/charges/job_charges.hpp"
#include "modules/job-priority/charges/membership.hpp"
#include "modules/job-priority/jobs/backlog.hpp"
#include "modules/job-priority/jobs/partition_queues.hpp"
#include "modules/job-priority/ranking/ranked_jobs.hpp"
#include "modules/job-priority/sends/sends.hpp"
#include "modules/job-priority/tree/tree_changeover.hpp"
#include "modules/job-priority/tree/tree_store.hpp"

namespace weir::priority {

/// Counts for stats-get, metrics and the tests.
struct ServiceCounts {
    std::uint64_t events = 0;  ///< of the journal
    std::uint64_t passes = 0;
    std::uint64_t changes = 0;  ///< priorities that a pass found different
};

class PriorityService {
  public:
    /// \param owner  user id of the instance's owner
    /// \param is_child  there is a parent instance: usage is recorded for it
    PriorityService(Settings settings, UserDatabase database, std::uint32_t owner, bool is_child);
    PriorityService(const PriorityService&) = delete;  // the stages refer to one another
    PriorityService& operator=(const PriorityService&) = delete;

    /// Restores the content of the state file; at most once, before any other call. Returns warnings. After an error
    /// the object must not be used.
    Result<std::vector<std::string>> restore(const SavedState& saved, Instant now);

    // ---- the journal ----
    /// A (new) journal stream begins: its backlog contains every job again.
    void begin_backlog();
    /// All events of one job in the backlog, in their order.
    void add_backlog(std::vector<JobEvent> events) {
        backlog_.add(std::move(events),
                     [this](const JobRun& run, Instant freed) { return charges_.is_past(run, freed); });
    }
    /// The backlog is complete: it is applied in order of time, and jobs that vanished are ended. An event that cannot
    /// be applied is skipped. \return a sentence for each of those.
    std::vector<std::string> end_backlog(Instant now);
    bool is_synced() const { return is_synced_; }
    /// A live event.
    void apply(const JobEvent& event);

    // ---- the pass ----
    /// Computes the priority of every pending job with fresh factors, or only of those that events touched since the
    /// last pass; then admits jobs within the limits, and passes the result to the pusher. During a backlog a marked
    /// pass has no effect: the full pass after it does what is due.
    void pass(Instant now, Pass which = Pass::full);
    /// Whether a marked pass would have an effect at once.
    bool has_marked() const { return ranking_.has_marked() || gate_.is_due(has_withdrawn()); }
    /// When a marked pass is due although no event asks for one; see Ranking::evaluation_due().
    std::optional<Instant> evaluation_due() const { return is_synced_ ? ranking_.evaluation_due() : std::nullopt; }

    /// Whether an event requires a full pass.
    bool is_full_due() const { return ranked_.is_full_due(); }

    // ---- what the stages depend on ----
    void configure(Settings settings, Instant now);
    /// Sets the instance's size; called again when it changes.
    void set_machine(const MachineSize& machine) {
        ranked_.set_machine(machine);
        gate_.set_machine(tree(), machine);
    }
    /// How many jobs the scheduler looks at, and whether it takes the order of the jobs from this module.
    void set_scheduler(const SchedulerView& scheduler);
    /// The queues whose jobs nothing starts.
    void set_stopped_queues(std::set<std::string> queues);
    /// The queues of each partition of the configuration.
    void set_partition_queues(PartitionQueues queues) { partition_queues_ = std::move(queues); }
    /// Local time less UTC: where the site's days begin.
    void set_utc_offset(Duration offset) { utc_offset_ = offset; }
    /// Whether usage was reset since the last call.
    bool take_was_reset() { return accounting_.ledgers().take_was_reset(); }
    /// See TreeStore::propose(), for the tree in force and the users here. O(size + jobs).
    Result<TreeProposal> propose(const TreeEdit& edit, const std::string& file, Instant now) const {
        return trees_.propose(members(), edit, file, now);
    }
    /// The same of TreeStore::propose_file().
    Result<std::optional<TreeProposal>> propose_file(const std::string& text, const std::string& file, Instant now) {
        return trees_.propose_file(members(), text, file, now);
    }
    /// See TreeStore::changes_between(). O(size + jobs).
    Result<std::vector<TreeChange>> changes_between(std::int64_t a, std::optional<std::int64_t> b) const {
        return trees_.changes_between(members(), a, b);
    }
    /// The consequences of a proposal. Nothing is changed. O(size). REQUIRES: nothing happened since propose().
    TreeChangeover prepare(TreeProposal proposal, Instant now) const {
        return changeover_to(std::move(proposal), accounting_, log_, now);
    }
    /// Applies it. REQUIRES: nothing happened since prepare(); its batch is written.
    void accept(TreeChangeover changeover);
    /// Applies values of SiteValues::propose(). REQUIRES: their rows are written.
    void accept(const SiteEdit& edit) { ranked_.accept(edit); }
    void take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
        ranked_.take_parent_factors(rows, is_complete);
    }
    /// Priorities of the parent's jobs whose copies are here; see GivenPriorities::take().
    void take_given_priorities(const std::vector<GivenPriority>& rows, bool is_all) {
        ranked_.take_given(rows, is_all);
    }
    /// Whether every such copy was seen in the journal.
    bool has_all_given() const { return ranked_.given().are_all_here(); }
    /// Whether the job is one of these copies.
    bool has_given(const BookJob& job) const { return ranked_.given().has(job); }

    // ---- children ----
    /// See ChildReports::attach() and report().
    std::uint64_t attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq, Instant now,
                               const std::vector<FluxJobId>& hosts = {});
    std::uint64_t report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records, Instant now);

    // ---- places under limits, of the parent and for the children: see Gate ----
    /// What is to be said to the parent next; nothing during a backlog.
    PlaceWishes take_wishes(Instant now);
    bool has_wishes() const { return is_synced_ && gate_.has_wishes(); }
    void take_answers(const std::vector<PlaceAnswer>& answers) { gate_.take_answers(tree(), answers); }
    void set_parent(PlaceAsks::Parent parent) { gate_.set_parent(tree(), parent); }
    /// A new link to a child that has our share tree. \return its number
    std::uint64_t open_places(FluxJobId child) { return gate_.attach_child(tree(), child); }
    void close_places(FluxJobId child) { gate_.detach_child(tree(), child); }
    void take_wishes_of(FluxJobId child, const PlaceWishes& wishes, Instant now);

    /// What the children's factors changed by since the last call; see FactorPublication::changed().
    FactorPublication::Rows changed_factors() {
        return sends_.factors().changed(tree(), ranking_.shares().standings(), users_);
    }

    // ---- persistence ----
    /// The changes since the last call, for one transaction; log().untake() if it failed.
    StateBatch take_batch() { return log_.take(accounting_); }
    /// Usage by the hour that is not written yet.
    UsageHours unwritten_usage() const { return log_.unwritten_usage(accounting_); }
    /// The state file has every change so far: what depends on it may be sent.
    void written() {
        sends_.uplink().written();
        gate_.places().written();
    }
    StateLog& log() { return log_; }
    const StateLog& log() const { return log_; }

    // ---- messages that the shell sends ----
    Sends& sends() { return sends_; }
    const Sends& sends() const { return sends_; }
    FirstValues& first_values() { return ranked_.first_values(); }
    Gate& gate() { return gate_; }
    const Gate& gate() const { return gate_; }
    /// Increases whenever the result of accounts_view() may have changed.
    std::uint64_t accounts_version() const { return accounts_version_; }

    // ---- for views, which change only the cache of users' names ----
    const Settings& settings() const { return settings_; }
    UserNames& users() const { return users_; }
    const Payers& payers() const { return payers_; }
    const Membership& membership() const { return membership_; }
    TreeStore& trees() { return trees_; }
    const TreeStore& trees() const { return trees_; }
    const JobBook& book() const { return book_; }
    const Accounting& accounting() const { return accounting_; }
    const JobCharges& charges() const { return charges_; }
    const ChildReports& children() const { return children_; }
    const Ranking& ranking() const { return ranking_; }
    const SiteValues& site() const { return ranked_.site(); }
    const ServiceCounts& counts() const { return counts_; }
    const PartitionQueues& partition_queues() const { return partition_queues_; }

  private:
    const ShareTree& tree() const { return accounting_.tree(); }
    TreeMembers members() const {
        return {tree(), [this](const ShareTree& lines) { return membership_.with_members(lines, has_limits(lines)); }};
    }
    /// A function that says of a job whether the job-manager has answered that it holds it back.
    std::function<bool(FluxJobId)> has_withdrawn() const {
        return [this](FluxJobId id) { return sends_.plugin().has_zero(id); };
    }
    /// What follows happens at this time: a reset of usage that is due by then comes first.
    void reach(Instant now);
    /// One event through the stages. The book applies it first, and each stage gets its effect.
    void pass_on(const JobEvent& event);
    /// Passes every job through the stages that depend on its payer, after a change of the tree, the users or the
    /// settings.
    void renew_all();
    /// Looks up users without an answer again, and corrects the charges made in the meantime.
    void refresh_users();

    Settings settings_;
    StateLog log_;
    mutable UserNames users_;  ///< a cache of look-ups
    TreeStore trees_;
    Accounting accounting_;
    Backlog backlog_;
    JobBook book_;
    Payers payers_;
    Membership membership_;
    Sends sends_;
    JobCharges charges_;
    ChildReports children_;
    Gate gate_;
    Ranking ranking_;
    RankedJobs ranked_;
    PartitionQueues partition_queues_;
    Duration utc_offset_{};
    bool is_synced_ = false;
    std::uint64_t accounts_version_ = 1;
    ServiceCounts counts_;
};

}  // namespace weir::priority
