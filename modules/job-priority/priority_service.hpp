// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the way of one event through the stages: book, charges, share tree, factors, engine, pusher; and the pass.
// Must not know: Flux, JSON, SQLite, clocks. The shell feeds events and `now`, and takes batches, pushes and reports.
// Source: DESIGN.md "The way of the data"; doc/adr/0062.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "libfairshare/limits/admission.hpp"
#include "libfairshare/tree/payer.hpp"
#include "libsched/config/engine_settings.hpp"
#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/jobs/user_names.hpp"
#include "modules/job-priority/ranking/measured.hpp"
#include "modules/job-priority/ranking/parent_factors.hpp"
#include "modules/job-priority/ranking/pending_queue.hpp"
#include "modules/job-priority/ranking/policy_order.hpp"
#include "modules/job-priority/sends/pusher.hpp"
#include "modules/job-priority/sends/uplink_queue.hpp"
#include "modules/job-priority/settings.hpp"
#include "modules/job-priority/state/state_rows.hpp"
#include "modules/job-priority/tree/tree_store.hpp"

namespace weir::priority {

/// Counts for stats-get and the tests.
struct ServiceCounts {
    std::uint64_t events = 0;
    std::uint64_t passes = 0;
    std::uint64_t changes = 0;       ///< priorities that a pass found different
    std::uint64_t evaluations = 0;   ///< of the whole tree
    std::uint64_t vanished = 0;      ///< running jobs that the job-manager no longer knew
    std::uint64_t rebuilt = 0;       ///< jobs that ended while we were away, charged from a backlog
    std::uint64_t not_believed = 0;  ///< starts in children's reports that moved nothing
};

/// New values of the site's own factor.
struct SiteEdit {
    std::map<FluxJobId, std::optional<SiteRow>> rows;
    std::vector<FluxJobId> unknown;  ///< not active here: nothing is kept of them
};

/// A share tree with all that follows from it, ready to be put in force: `batch` is to be written first.
struct TreeChangeover {
    TreeProposal proposal;
    Accounting accounting;
    StateBatch batch;
};

/// What the plugin needs to judge submissions.
struct AccountsView {
    struct User {
        std::uint32_t userid = 0;
        std::string name;
        std::optional<std::string> default_account;
        std::vector<std::string> accounts;  ///< every spelling that resolves
    };
    std::vector<User> users;
    std::vector<std::string> known_accounts;  ///< every spelling of every account, whoever may use it
    std::vector<std::string> open_accounts;
    std::optional<std::string> open_default;
};

/// The algorithm by its name, with the site's factors.
Algorithm algorithm_of(const Settings& settings);
/// Whether a node is a group: then users' groups are looked up.
bool has_groups(const ShareTree& tree);

class PriorityService {
  public:
    /// \param owner  user id of the instance's owner
    /// \param is_child  there is a parent instance: usage is recorded for it
    PriorityService(Settings settings, UserDatabase database, std::uint32_t owner, bool is_child);

    /// Takes over the state file's content; at most once, before anything else. Returns warnings.
    Result<std::vector<std::string>> restore(const SavedState& saved, Instant now);

    // ---- journal ----
    /// A (new) journal stream begins: its backlog will tell every job again.
    void begin_backlog();
    /// All events of one job in the backlog, in their order.
    void add_backlog(const std::vector<JobEvent>& events);
    /// The backlog is complete: it is applied in order of time, and what vanished is ended. An event that cannot be
    /// applied costs itself alone.
    /// \return a sentence for each of those.
    std::vector<std::string> end_backlog(Instant now);
    bool is_synced() const { return is_synced_; }
    /// A live event.
    void apply(const JobEvent& event);

    // ---- passes ----
    /// Judges every pending job with fresh factors.
    void pass(Instant now);
    /// Judges the jobs whose inputs changed since the last call; factors are at most a thirtieth of the update interval
    /// old, so that a burst of events costs one evaluation of the tree.
    void pass_changed(Instant now);
    bool has_marked() const { return queue_.has_marked() || is_letting_in_due_; }
    Pusher& pusher() { return pusher_; }

    // ---- configuration and tree ----
    const Settings& settings() const { return settings_; }
    void configure(Settings settings, Instant now);
    /// What the instance has; may come again when it changed.
    void set_machine(const MachineSize& machine);
    bool is_machine_known() const { return is_machine_known_; }
    /// Local time less UTC: where the site's days begin.
    void set_utc_offset(Duration offset) { utc_offset_ = offset; }
    TreeStore& trees() { return trees_; }
    const TreeStore& trees() const { return trees_; }
    /// What a proposal of trees() comes to. Nothing is changed. O(size).
    TreeChangeover prepare(TreeProposal proposal, Instant now) const;
    /// Puts it in force. REQUIRES: nothing happened since prepare(); its batch is written.
    void accept(TreeChangeover changeover);
    AccountsView accounts();
    /// Rises whenever accounts() may answer otherwise.
    std::uint64_t accounts_version() const { return accounts_version_; }

    // ---- the site's own factor: service_site.cpp ----
    /// Values of jobs, kept until the jobs are gone; nothing for a value: it is taken back. Nothing is changed: the
    /// rows are to be written first, then accepted. REQUIRES: the values are finite.
    SiteEdit propose_site_values(std::span<const std::pair<FluxJobId, std::optional<double>>> values) const;
    void accept(const SiteEdit& edit);
    std::optional<double> site_value(FluxJobId id) const;

    // ---- policies other than multifactor: service_policy.cpp ----
    /// Whether priorities are the engine's sums; else they are what the policy gives, in its own terms.
    bool is_sum() const { return order_.is_sum(); }
    /// What a waiting job's place comes from; nothing of held and expedited ones. `measured` as of now.
    OrderTerms explain_order(FluxJobId id, const Measured& measured, Instant now) const;
    /// Why `other` stands above `own`; empty where one of them is held or expedited. O(nodes).
    std::string order_lead(FluxJobId own, FluxJobId other, const Measured& measured, Instant now) const;
    /// When one of two waiting jobs passes the other, all but time as it is now; within a year.
    /// REQUIRES: both wait; not multifactor.
    Passings passings_of(FluxJobId a, FluxJobId b, const Measured& measured, Instant now, std::size_t limit) const;

    // ---- parent ----
    UplinkQueue& uplink() { return uplink_; }
    /// The parent applied everything up to `seq`.
    void uplink_acknowledged(std::uint64_t seq);
    void take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete);
    bool has_parent_factors() const { return is_child_ && settings_.takes_parent_factors && !from_parent_.is_empty(); }

    // ---- children: service_children.cpp ----
    /// Whether `userid` may speak for the instance that runs as job `child`. Errors: EPERM, ENOENT with a sentence.
    Status authorize_child(FluxJobId child, std::uint32_t userid, bool is_owner) const;
    /// A child connected: what of its records is applied. A new `instance` name begins a new count. What a partition
    /// holds and does not report to be used is idle from `now` on.
    /// \param first_seq  the first record the child still has; earlier ones that we lack are lost with our old state
    std::uint64_t attach_child(FluxJobId child, const std::string& instance, std::uint64_t first_seq, Instant now);
    /// Applies the records first_seq, first_seq+1, ... that were not applied yet, none of them later than `now`, and as
    /// far as the child is believed (doc/adr/0184); returns the last applied number. A gap stops it: the child sends
    /// from there again.
    std::uint64_t report(FluxJobId child, std::uint64_t first_seq, std::vector<UplinkRow> records, Instant now);
    /// Every association's factor, for a child that connects.
    std::vector<FactorRow> factor_rows();
    /// Those that changed since the last call; `is_complete` when the tree changed and all are sent anew.
    std::vector<FactorRow> changed_factor_rows(bool& is_complete);

    // ---- limits of the share tree: service_limits.cpp ----
    /// Jobs submitted since the last call that no waiting helps: each is to get an exception with this sentence.
    std::vector<std::pair<FluxJobId, std::string>> take_refusals() { return std::exchange(refusals_, {}); }
    /// Why the tree's limits hold a waiting job back, in words; empty when they do not.
    std::string held_back_by(FluxJobId id) const;
    const Admission& admission() const { return admission_; }
    bool is_limited() const { return has_limits_; }
    /// Before the first backlog: who of the waiting jobs the scheduler was not offered when we were away. All others
    /// may be starting and keep their places. Without this call nobody has one.
    void set_withheld(std::set<FluxJobId> ids) { withheld_ = std::move(ids); }

    // ---- persistence ----
    /// The changes since the last call, for one transaction; untake() if it failed.
    StateBatch take_batch() { return accounting_.take(); }
    void untake_batch(StateBatch batch) { accounting_.untake(std::move(batch)); }
    bool is_dirty() const { return accounting_.is_dirty(); }
    void want_checkpoint() { accounting_.want_checkpoint(); }
    /// Our name towards the parent; made once and kept in the state.
    const std::string& instance() { return accounting_.meta().instance; }
    void set_instance(std::string instance);

    // ---- for views ----
    const JobBook& book() const { return book_; }
    const Accounting& accounting() const { return accounting_; }
    const PendingQueue& queue() const { return queue_; }
    UserNames& users() { return users_; }
    const Algorithm& algorithm() const { return algorithm_; }
    const Standings& standings() const { return standings_; }
    /// Of the tree as it is now: usage, and what the algorithm in force wants besides. O(size), and O(pending jobs) for
    /// demand-capped; in `into`'s memory.
    void measure(Instant now, Measured& into) const;
    /// The array that queue() indexes.
    std::span<const double> factors() const;
    const ServiceCounts& counts() const { return counts_; }
    /// The association a job is (or would be) charged to.
    NodeId payer_of(const BookJob& job);
    const std::map<FluxJobId, DownlinkRow>& children() const { return children_; }

  private:
    /// A job's payer; `userid` for the groups, where the tree has any.
    Result<Association> association_of(const Credentials& job, std::optional<std::uint32_t> userid);
    std::optional<std::pair<NodeId, std::string>> newcomer_of(const SubmitEvent& submit);
    void admit_members_of_backlog();
    NodeId resolve(const Credentials& job, std::optional<std::uint32_t> userid);
    void measure_demand(Measured& into) const;
    std::uint32_t factor_index(const BookJob& job);
    void on_started(const BookJob& job, const JobEvent& event);
    /// A running job that nobody will tell the end of: it ended where it was last seen.
    void end_vanished(FluxJobId id, Instant last_seen);
    void on_ended(const BookJob& job, Instant at);
    void record(UplinkRow row);
    void evaluate_now(Instant now);
    void put(const BookJob& job);
    void put_all();
    void configure_queue();
    void configure_order(Instant now);
    JobOwner owner_of(const BookJob& job);
    /// Takes the job out of the queue.
    void leave(FluxJobId id, Instant at);
    /// Gives the engine what the policy says of all jobs, or of those that events touched.
    void give_values(Instant now, bool is_full);
    /// Tells the pusher who waits because of a cap; after the pass that wants their values.
    void hold_capped();
    void forget_site_value(FluxJobId id);
    void forget_vanished_site_values();
    /// Asks for users of whom nothing is known, and puts right what was charged meanwhile.
    void refresh_users();
    void apply_record(FluxJobId child, const UplinkRow& record);
    /// Whether the instance's owner started it for himself.
    bool is_owners(const BookJob& job) const;
    /// Whether a child instance in it is a partition: what it does not use is idle and nobody's.
    bool is_partition(const BookJob& job) const;
    /// Who pays for a job inside `child`: nobody knows a stranger, `unassociated` pays; nothing where a guest's child
    /// names another user than him, or an account that he is not in.
    std::optional<NodeId> payer_in(const BookJob& child, const UplinkRow& record);
    void forget_child(FluxJobId child);
    // An instance that was killed comes back as another job: service_lives.cpp, doc/adr/0210.
    void close_child(const BookJob& job, Instant at);
    std::vector<FluxJobId> earlier_lives(FluxJobId child, const std::string& instance) const;
    void go_on_from_earlier_lives(FluxJobId child, DownlinkRow& row) const;
    bool apply_to_earlier_life(FluxJobId child, const UplinkRow& record);
    /// After a backlog: what it says to hold nothing is charged no more and reports no more.
    void forget_ended(Instant last_seen);
    void judge_submission(const BookJob& job);
    /// What it asks for changed; nothing to do once it runs. Null: the book does not know it.
    void judge_update(const BookJob* job);
    void count_limits(FluxJobId id);
    void keep_places(const std::vector<FluxJobId>& ids);
    void keep_places_but(const std::set<FluxJobId>& withheld);
    void recount_limits();
    void let_in(Instant now);

    Settings settings_;
    UserNames users_;
    bool is_child_;
    TreeStore trees_;
    Accounting accounting_;
    JobBook book_;
    PendingQueue queue_;
    PolicyOrder order_;
    PolicyOrder::Values given_;   // kept for its memory
    std::set<FluxJobId> capped_;  ///< held back by the policy itself
    Instant order_time_{};        ///< of what order_ is told now; in a backlog before the position
    Pusher pusher_;
    UplinkQueue uplink_;
    ParentFactors from_parent_;
    Admission admission_;  ///< empty where the tree has no limits
    bool has_limits_ = false;
    bool is_letting_in_due_ = false;  ///< something changed what limits count
    std::optional<std::set<FluxJobId>> withheld_;
    std::vector<std::pair<FluxJobId, std::string>> refusals_;
    Algorithm algorithm_;
    Measured measured_;
    Standings standings_;
    std::optional<Instant> evaluated_at_;
    std::uint32_t evaluated_size_ = 0;  ///< nodes of the tree at that time
    MachineSize machine_;
    std::map<FluxJobId, SiteRow> site_;
    bool is_machine_known_ = false;
    bool has_groups_ = false;            ///< some node of the tree is a group
    std::set<FluxJobId> paid_in_doubt_;  ///< running jobs whose user could not be looked up when they started
    Duration utc_offset_{};
    bool is_synced_ = false;
    std::vector<JobEvent> backlog_;
    std::map<FluxJobId, JobRun> backlog_runs_;
    std::map<FluxJobId, DownlinkRow> children_;
    std::map<std::string, double> published_;  ///< by path: the factors that children have
    bool is_publication_complete_ = true;      ///< the next publication replaces all rows
    std::uint64_t accounts_version_ = 1;
    ServiceCounts counts_;
};

}  // namespace weir::priority
