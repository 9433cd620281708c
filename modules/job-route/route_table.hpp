// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the parent's side of a route: the routed jobs, the child that has each, and the actions still to be done. The
// parent's own journal is the truth; a child's report only leads to requests that come back as journal events.
// Must not know JSON, Flux, or a clock: facts go in, actions come out. Source: RFC 21; README.md of this folder.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "modules/job-route/copy_ids.hpp"
#include "modules/job-route/hand_down.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/job-route/messages.hpp"
#include "modules/job-route/route_job.hpp"
#include "modules/job-route/rule_book.hpp"

namespace weir::route {

/// A request to the jobtap plugin of this instance. All except `give` make the parent's job mirror its copy.
struct TapOp {
    enum class Kind : std::uint8_t { give, alloc, start, finish, exception, clean };
    Kind kind = Kind::give;
    JobId id;
    JobId child;
    std::string queue;
    LocalId local;
    std::string R;
    int status = 0;
    std::string type;
    int severity = 0;
    std::string note;
    friend bool operator==(const TapOp&, const TapOp&) = default;
};

/// The actions for the shell, in this order.
struct ParentActions {
    std::vector<TapOp> tap;
    std::vector<JobId> fetch;   ///< look up the jobspec, then call jobspec_ready() or fetch_failed()
    std::vector<JobId> silent;  ///< children that are lost although their link is up: end their sessions
    std::vector<std::pair<JobId, Order>> orders;      ///< (child, order)
    std::vector<std::pair<JobId, std::string>> uris;  ///< (job, URI) for a memo of the job
    std::vector<JobId> moved;  ///< jobs that another child has now, or none, or that have ended: for their memos
};

struct Caller {
    std::uint32_t userid = 0;
    bool is_owner = false;
    bool is_private = false;  ///< is not to know whether another user's job is there
};

/// One child, for output.
struct ChildView {
    JobId job;
    std::vector<std::string> serves;
    std::string uri;
    bool is_attached = false;
    std::int64_t lost_ticks = 0;  ///< since its last message, or since this side began; 0 while it is attached
    std::int64_t cores = 0;
    std::int64_t pending = 0;
    std::int64_t running = 0;
    std::int64_t done = 0;
    std::int64_t own_jobs = 0;   ///< that did not come from here, as last reported
    std::int64_t own_cores = 0;  ///< that jobs from here cannot get, as last reported
};

/// A partition that this instance keeps, as far as it matters to where jobs go.
struct KeptPartition {
    std::string name;
    JobId job;  ///< its instance; 0: none now
    std::vector<std::string> queues;
    std::vector<std::string> overflow;  ///< queues to which it lends the cores that its own jobs leave
    std::int64_t cores = 0;
    PartitionRules rules;
    PartitionLimits limits = {};
    std::vector<JobId> old = {};  ///< earlier instances, which end after their jobs: these count against the limits
    std::string away = {};        ///< why it gets no job now: "is drained"; empty: it does
    std::int64_t node_cores = 0;  ///< no node of it has more; 0: unknown
    bool is_drained = false;      ///< by an operator: it stays away
    bool has_queue(const std::string& queue) const;
    friend bool operator==(const KeptPartition&, const KeptPartition&) = default;
};

/// Where one routed job is.
struct JobView {
    std::string queue;
    JobId child;  ///< 0: no child
    LocalId local;
    bool is_allocated = false;
};

class RouteTable {
  public:
    /// \param has_parent this instance is itself a child: a job that came from above may start below only when
    ///        allow_go() was called for it.
    /// \param patience ticks for which a lost child keeps jobs that have not started, and for which a child is not
    ///        offered a job that it returned. At least 1.
    /// \param depth jobs that a child gets beyond those for which it has room, of those that others take (HandDown).
    /// \param owner of the instance: his children alone may get any user's jobs.
    /// \param runs_as_owner whether his children may, since they run each job as him (the embedded broker).
    explicit RouteTable(bool has_parent, std::int64_t patience = 30, std::int64_t depth = HandDown::depth_default,
                        std::uint32_t owner = 0, bool runs_as_owner = true)
        : has_parent_(has_parent),
          patience_(patience),
          owner_(owner),
          runs_as_owner_(runs_as_owner),
          hand_down_(depth) {}

    // ---- facts from this instance's journal ----
    void submitted(JobId id, const JournalEvent& event, const JobFacts& facts);
    void event(JobId id, const JournalEvent& event);
    /// The journal's backlog is complete: from now on the table acts. Jobs of children that are gone are settled.
    void synced();

    // ---- a child ----
    /// Whether the caller may have a child at all. O(log jobs). Errors: resource_unavailable_try_again before synced(),
    /// no_such_process where no job of his runs here.
    Status may_have_child(const Caller& caller) const;
    /// Asks nothing of the sender but which job he means, and how much he sent. O(log jobs).
    /// Errors: resource_unavailable_try_again before synced(), no_such_process when the job does not run,
    /// operation_not_permitted for another user's job, invalid_argument when it serves nothing, or knows more jobs than
    /// a guest's child may.
    Status may_attach(const AttachHead& head, const Caller& caller) const;
    /// Errors: those of may_attach().
    Status attach(const Attach& attach, const Caller& caller);
    /// Whether the caller has a child that is attached. O(children). Errors: owner_dead.
    Status may_have_session(const Caller& caller) const;
    /// may_attach() of a report. Errors: owner_dead where this is not a session of the caller's, invalid_argument when
    /// it has more events than a guest's may. O(log children).
    Status may_report(const ReportHead& head, const Caller& caller) const;
    void detach(JobId child, const std::string& session);
    /// A drained child gets no new jobs, and those that have not started are recalled. A child may be drained before it
    /// attaches; it stays drained until its job ends. O(its jobs); O(jobs log jobs) to resume it.
    void set_drained(JobId child, bool is_drained);
    bool is_drained(JobId child) const { return drained_.count(child) > 0; }
    /// The queues that this instance's operator has stopped. Their jobs are not handed down, and those that have not
    /// started are recalled. O(jobs) where it changes.
    void set_stopped(std::set<std::string> queues);
    /// Whether a child attached, was lost or ended since the last call.
    bool take_children_changed() { return std::exchange(are_children_changed_, false); }
    /// Whether a job that may start waits for cores and could have those of this partition: see HandDown::is_awaited().
    bool is_awaited(const KeptPartition& partition) const;
    /// A second has passed. An attached child that said nothing for longer than the patience is lost, as if its link
    /// were. Jobs that wait only for a lost child return to the queue: they cannot have started without `go`.
    /// O(children), and O(its jobs) when a child's patience ends.
    void tick();
    /// The number of ticks after which one alone moves jobs that wait; nothing: none does. O(children).
    std::optional<std::int64_t> next_move() const { return hand_down_.next_change(); }
    /// See HandDown::set_time_on_the_way(). Instances do not know it. REQUIRES: no jobs yet.
    void set_time_on_the_way(std::int64_t ticks) { hand_down_.set_time_on_the_way(ticks); }
    /// Whether a tick would have an effect.
    bool needs_ticks() const;
    /// Whether jobs here are child instances, attached or not.
    bool has_instances() const { return !children_.empty() || !hosts_.empty(); }
    /// A child's R in the numbers of this instance, JSON text. Errors: the child has no such resources.
    using MapR = std::function<Result<std::string>(const std::string& R)>;
    /// \param map_R is called once for each allocation that is news, since R may be costly to read; none: R is in the
    ///        numbers of this instance.
    /// \return the highest sequence number taken. Errors: stale session (owner_dead), a gap in the sequence.
    /// O(events log jobs). Allocations are judged by the next take().
    Result<std::uint64_t> report(const Report& report, const MapR& map_R = {});

    // ---- answers to actions ----
    void jobspec_ready(JobId id, std::string jobspec);
    void fetch_failed(JobId id, const std::string& why);
    void tap_failed(JobId id, TapOp::Kind kind);
    /// The instance above has this job's allocation on record.
    void allow_go(JobId id);
    /// A signal for the processes of a routed job. A child that does not know the order, or has no link, gets none.
    void signal(JobId id, int signum);

    /// Judges the allocations that were reported, and plans the hand-down, if one of its facts has changed.
    ParentActions take();
    /// Sets the configured partitions, attached or not, in the order of the configuration. A job that needs more cores
    /// than every partition that takes it has is routed all the same, and the child says why it cannot run. A job that
    /// waits in a child that no longer takes it, or for which a limit leaves no place, is recalled. O(children); O(jobs
    /// x rules) where rules changed, or whether limits count users. \return whether anything is different.
    bool set_partitions(std::vector<KeptPartition> partitions);
    /// Whether each partition of its queue takes a job, in the order of the configuration, whether it can run it, and
    /// which limit keeps it from a partition that has it not.
    std::vector<PartitionWord> words_of(JobId id) const;
    bool is_synced() const { return is_synced_; }
    bool is_routed(JobId id) const;
    /// O(jobs): their counts.
    std::vector<ChildView> children() const;
    /// One of them, without the counts of jobs. Nullopt: no such child. O(log children).
    std::optional<ChildView> child_without_counts(JobId id) const;
    /// The children that serve the job's queue and may have jobs of its user, also those that are lost or drained;
    /// without the counts of jobs. O(children).
    std::vector<ChildView> servers_of(JobId id) const;
    /// Jobs that the child has, pending and running, with its own; 0 of an unknown child. O(log children).
    std::int64_t jobs_with(JobId child) const;
    /// Active jobs whose jobspec says that they are child instances, attached or not. O(jobs).
    std::vector<JobId> instance_jobs() const;
    Result<JobView> find(JobId id) const;
    /// nullptr if there is no such active job.
    const RouteJob* active(JobId id) const;
    /// The job whose copy in a child has this id; 0: none, or copies of two. Also of jobs that ended lately.
    JobId id_of(LocalId local) const { return copies_.id_of(local); }
    /// Attached children of the instance's owner.
    std::vector<JobId> trusted_children() const;
    /// The name of the partition whose instance a child is; empty: no configured partition.
    std::string partition_of(JobId child) const;
    /// R of an active job that is not routed, JSON text; empty when unknown. For mapping a child's R onto it.
    std::string R_of(JobId id) const;
    std::size_t job_count() const { return jobs_.size(); }
    std::int64_t waiting() const;
    /// Routed jobs of the queue that have not got their cores. O(jobs).
    std::int64_t waiting_for(const std::string& queue) const;
    /// Active jobs that did not come from the instance above, here and in the children; these themselves do not count.
    /// O(children).
    std::int64_t own_jobs() const;
    /// The cores that these jobs hold, and those of instances that serve none of these queues. O(children).
    std::int64_t own_cores(const std::vector<std::string>& serves) const;

  private:
    using Job = RouteJob;
    struct Child {
        std::string session;
        bool is_attached = false;
        bool is_trusted = false;  ///< attached by the owner
        bool takes_signals = false;
        std::int64_t node_cores = 0;
        std::uint32_t userid = 0;
        std::vector<std::string> serves;
        std::string uri;
        std::int64_t cores = 0;
        std::uint64_t seq = 0;
        std::int64_t silent_ticks = 0;  ///< since its last attach or report
        std::int64_t lost_ticks = 0;
        std::unordered_set<JobId> given;  ///< recorded, or asked for
        /// What was to be sent after the attach and has not been; then the child gets `complete`, once a session.
        std::set<JobId> first;
        bool is_complete = false;
        std::map<JobId, std::int64_t> refused;  ///< returned, and the ticks since
        /// Ticks after which a returned job may be offered again, at least the patience. It doubles while the child
        /// accepts nothing.
        std::int64_t refusal_pause = 0;
        /// Old copies of jobs that it no longer has. Such a job is not routed to it before the copy's end is reported,
        /// so that a report about the old copy is not taken for the new one.
        std::set<JobId> stale;
        std::int64_t done = 0;
        std::int64_t own_jobs = 0;
        std::int64_t own_cores = 0;
    };
    /// The longest pause after a return, as a multiple of the patience.
    static constexpr std::int64_t refusal_pause_max = 32;
    using Jobs = std::unordered_map<JobId, Job>;
    using Entry = Jobs::value_type;

    /// The allocation of a copy that is not judged yet, or that waits for a better job that is on its way to the child.
    /// If the copy were recalled before that is there, the child would give the cores to the next one that it has.
    struct HeldAllocation {
        JobId child;
        LocalId local;
        std::string R;  ///< in terms of this instance
    };

    /// The jobs that the child has, in the order of their ids. A copy: what is done with them may change the child's.
    static std::set<JobId> jobs_given(const Child& child) { return {child.given.begin(), child.given.end()}; }
    Child* attached_child(JobId id);
    Child* attached_child(const Entry& entry);
    bool is_allowed(const Child& child, const Job& job) const;
    bool may_have(const Child& child, const Entry& entry) const;
    const KeptPartition* kept(JobId child) const;
    /// The partition of an instance, the present one or an earlier one.
    const KeptPartition* family_of(JobId child) const;
    PartitionWord word_of(const KeptPartition& partition, const Entry& entry) const;
    bool is_lent(JobId child, const std::string& queue) const;
    int rank_of(JobId child) const;
    std::uint32_t user_of(const Job& job) const;
    std::int64_t node_cores_of(JobId child) const;
    std::int64_t held_cores(const Job& job) const;
    void set_kind(Job& job);
    HandDown::Job standing_of(const Entry& entry) const;
    /// Passes the job's standing to hand_down_, and lists it where it runs here. Call it after each change of an input
    /// of standing_of().
    void refile(Entry& entry);
    /// The same of a child.
    void refile_child(JobId id, const Child& child);
    HandDown::Takers takers(const HandDown::JobClass& jobs) const;
    HandDown::Rules rules() const;
    void hand_down();
    static bool is_open_to_alloc(const Job& job);
    void on_allocated(Entry& entry, const ChildEvent& event, const MapR& map_R);
    void drop_ended_allocations();
    void settle_held_allocations();
    void accept_alloc(Entry& entry, std::string R);
    void decline_alloc(Entry& entry, const HandDown::Objection* objection);
    void assign(Entry& entry, JobId child);
    void take_back(Entry& entry);
    /// Recalls the job: cancels the copy, if there may be one, and puts the job back into the queue.
    void recall(Entry& entry);
    void order_priority(const Entry& entry);
    /// `complete` need not wait any longer for this job to be sent to the child.
    void leave_first(JobId child, JobId id);
    void report_if_complete(JobId id, Child& child);
    void list_first(Child& child);
    void prune_first(JobId id, Child& child);
    void on_bypass(Entry& entry);
    void on_update(Entry& entry, const JournalEvent& event);
    void recall_outdated(Entry& entry);
    void on_priority(Entry& entry, std::int64_t priority);
    void lose(Entry& entry, const std::string& why);
    void child_ended(JobId id);
    void give_up(JobId id, Child& child);
    void empty(JobId id, Child& child);
    bool is_stopped(const Job& job) const { return stopped_.count(job.facts.queue) > 0; }
    void order(const Entry& entry, Order order);
    void order_go(const Entry& entry);
    void hold(const Entry& entry, Own& own);
    void list_running(const Entry& entry);
    void fetch(Entry& entry);
    void settle_all(JobId host, Child& child, const std::vector<KnownJob>& known_jobs);
    void settle(Entry& entry, const KnownJob* known);
    void cancel_copy(JobId host, JobId id);
    void disown(JobId host, Child& child, JobId id, bool has_ended);
    void on_urgency(Entry& entry, int urgency);
    void on_route(Entry& entry, JobId child);
    void on_alloc(Entry& entry, const JournalEvent& event);
    void on_finish(Entry& entry);
    void on_exception(Entry& entry, const JournalEvent& event);
    void on_clean(Jobs::iterator entry);
    void apply(Child& child, Entry& entry, const ChildEvent& event, const MapR& map_R);
    bool try_others(Child& child, Entry& entry, const std::string& note);
    bool has_other_place(const Entry& entry) const;
    bool is_place_besides(JobId child) const;
    bool is_unfit_for(JobId job, JobId child) const;
    std::vector<JobId> unfit_for(JobId job) const;
    std::string unfit_text(JobId job, JobId child) const;
    std::string why_unfit(const Entry& entry) const;
    void forget_unfit(JobId child);
    void refuse_alloc(Entry& entry, const std::string& why);
    void offer_again(Child& child);
    void on_returned(Child& child, Entry& entry);
    void on_failed(Child& child, Entry& entry, const ChildEvent& event);
    void on_cleaned(Child& child, Entry& entry, const ChildEvent& event);
    TapOp& ask(TapOp::Kind kind, const Entry& entry);

    bool has_parent_;
    std::int64_t patience_;
    std::uint32_t owner_;
    bool runs_as_owner_;
    bool is_synced_ = false;
    Jobs jobs_;  ///< every active job of this instance
    CopyIds copies_;
    /// Of each job, the children of the owner that said that they cannot run it, and what they said. What a child said
    /// is forgotten when it attaches again, or ends.
    std::map<JobId, std::map<JobId, std::string>> unfit_;
    std::map<JobId, Child> children_;
    std::map<JobId, HeldAllocation> held_allocations_;
    std::set<JobId> drained_;        ///< children, attached or not
    std::set<std::string> stopped_;  ///< queues
    bool are_children_changed_ = false;
    std::int64_t own_jobs_ = 0;
    std::int64_t own_cores_ = 0;
    HandDown hand_down_;
    std::set<JobId> hosts_;  ///< active jobs whose jobspec says that they are child instances
    std::set<std::pair<std::uint32_t, JobId>> running_here_;  ///< by user; each may attach as a child
    std::vector<KeptPartition> partitions_;
    bool do_limits_count_users_ = false;
    RuleBook book_;
    ParentActions actions_;
};

}  // namespace weir::route
