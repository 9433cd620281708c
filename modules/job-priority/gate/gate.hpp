// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which pending jobs may be offered to the scheduler, by the share tree's limits and associations and the
// policy's caps; which submissions are refused. The limits count jobs over all instances: jobs that were submitted to a
// child need a place here, and our own jobs one of the parent whose share tree we have (gate_places.cpp). Must not
// know: how priorities are computed, resources, links. Source: libfairshare/limits/admission.hpp.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/limits/admission.hpp"
#include "libsched/config/engine_settings.hpp"
#include "modules/job-priority/charges/child_reports.hpp"
#include "modules/job-priority/gate/child_places.hpp"
#include "modules/job-priority/gate/place_asks.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

class Gate {
  public:
    /// \param is_child  there is a parent instance   The others outlive this.
    struct Stages {
        const Settings& settings;
        const JobBook& book;
        const Payers& payers;
        ChildReports& children;
        StateLog& log;
    };
    Gate(const Stages& stages, bool is_child)
        : settings_(stages.settings),
          book_(stages.book),
          payers_(stages.payers),
          children_(stages.children),
          is_child_(is_child),
          places_(stages.log, stages.children) {}
    /// The places that jobs in children hold.
    void restore(const SavedState& saved) { places_.restore(saved); }

    /// Before the first backlog: the pending jobs that were not offered to the scheduler before our start. All others
    /// may be starting and stay admitted. Without this call none is admitted.
    void set_withheld(std::set<FluxJobId> ids) { withheld_ = std::move(ids); }
    /// Counts the jobs again if the size is another. Before the first call it is unknown: a job may be spread over as
    /// many nodes as it has slots, and its nodes have the cores that it requests.
    void set_machine(const ShareTree& tree, const MachineSize& machine);
    /// The limits are those of `tree`. Every job must be counted again.
    void restart(const ShareTree& tree);
    /// Counts every job of the book, with its payer in the tree. Jobs admitted before restart() stay admitted. O(jobs
    /// log jobs).
    void count_all(const ShareTree& tree);
    /// A new backlog, whose events count the jobs: the same as restart(), and no job is capped.
    void begin_backlog(const ShareTree& tree);
    /// The backlog is complete. Jobs that were admitted stay admitted; after the first backlog also those outside
    /// set_withheld().
    void end_backlog(const ShareTree& tree);
    /// The queues whose jobs nothing starts. Such a job takes no place under a limit; one that was admitted gives its
    /// place back when it is known not to have started. O(jobs log jobs) if they changed.
    void set_stopped(const ShareTree& tree, std::set<std::string> queues);
    /// As set last.
    const std::set<std::string>& stopped() const { return stopped_; }
    bool is_stopped(const BookJob& job) const { return stopped_.count(job.request->queue) != 0; }
    /// Whether the job waits without a place for its queue to start.
    bool pauses(const BookJob& job) const { return is_limited_ && is_stopped(job); }

    /// Whether the job waits because nobody would pay for it, in an instance that enforces associations: a change of
    /// the tree removed its user or its account. As a new job it would be refused.
    bool is_stranger(FluxJobId id) const { return strangers_.count(id) != 0; }

    /// Whether the tree has limits; else only caps and associations count.
    bool is_limited() const { return is_limited_; }
    /// Counts the event's job. After a live event a job whose size exceeds a limit on its path is refused; a new job
    /// also if too many jobs are active.
    void apply(const ShareTree& tree, const AppliedEvent& applied);
    /// Counts the job as it is in the book now. A child's partition is not counted, since the limits count the jobs in
    /// it.
    void count(const ShareTree& tree, FluxJobId id) { count(tree, id, book_.find(id)); }
    /// Whether the policy itself holds each of these jobs back.
    void cap(const std::vector<std::pair<FluxJobId, bool>>& caps);
    bool is_capped(FluxJobId id) const { return capped_.count(id) != 0; }
    void uncap_all() { capped_.clear(); }
    /// Whether a limit, a cap, a stopped queue, or that nobody would pay keeps a pending job from starting.
    bool is_held_back(FluxJobId id) const { return admission_.is_held_back(id) || is_capped(id) || is_stranger(id); }

    /// Whether any count of the limits changed since the last admit(), or settle() would change one.
    bool is_due(const std::function<bool(FluxJobId)>& has_withdrawn) const {
        return is_due_ || admission_.can_settle(of_own(has_withdrawn));
    }
    /// Jobs whose place was taken back give it up once has_withdrawn(id): the job-manager has answered that it holds
    /// them back, and has reported every start before that.
    void settle(const ShareTree& tree, const std::function<bool(FluxJobId)>& has_withdrawn) {
        admission_.settle(tree, of_own(has_withdrawn));
    }
    /// Admits jobs within the limits, in order of `priority_of`. O(changed jobs).
    void admit(const ShareTree& tree, const UsageLedger& ledger, Instant now, const Admission::PriorityOf& priority_of);
    /// Calls held_back(id, is_held_back) for each job whose state may have changed since the last call.
    void for_each_change(const std::function<void(FluxJobId, bool)>& held_back);

    // ---- places of the parent ----
    /// What is known of the parent: until it has answered, and as long as it counts, our jobs under a limit need a
    /// place of it. O(jobs log jobs) if that changes.
    void set_parent(const ShareTree& tree, PlaceAsks::Parent parent);
    PlaceAsks::Parent parent() const { return asks_.parent(); }
    /// A link to it, under its number.
    void attach_to_parent(std::uint64_t link) { asks_.attached(link); }
    void detach_from_parent() { asks_.detached(); }
    /// Jobs that wait for the parent tell it their priority again.
    void renew_wishes() { asks_.mark_waiting(); }
    bool has_wishes() const { return asks_.has_news(); }
    /// What is to be said to it next.
    PlaceWishes take_wishes(const Admission::PriorityOf& priority_of);
    void take_answers(const ShareTree& tree, const std::vector<PlaceAnswer>& answers);

    // ---- places of jobs in children ----
    ChildPlaces& places() { return places_; }
    const ChildPlaces& places() const { return places_; }
    /// A new link to a child. \return its number
    std::uint64_t attach_child(const ShareTree& tree, FluxJobId child);
    /// It is lost: no job of the child that has no place gets one.
    void detach_child(const ShareTree& tree, FluxJobId child);
    /// Notes what a child says, and resolves the payers, by which the tree may get members: call count_heard() with the
    /// tree then in force. What was sent by another link has no effect.
    std::vector<ChildPlaces::Change> hear(FluxJobId child, const PlaceWishes& wishes);
    void count_heard(const ShareTree& tree, const std::vector<ChildPlaces::Change>& changes);
    /// Resolves the payers again, after a change of the tree or the users. \see hear()
    void resolve_places();
    void follow_tree(std::span<const NodeId> moved) { places_.follow_tree(moved); }

    /// Jobs refused since the last call; each must get an exception with this sentence.
    std::vector<std::pair<FluxJobId, std::string>> take_refusals() { return std::exchange(refusals_, {}); }
    /// The limit of the tree that holds a job back, in words; empty if none does.
    std::string limit_of(const ShareTree& tree, FluxJobId id) const;
    const Admission& admission() const { return admission_; }

  private:
    /// \param job  of the book; null: it has none of that id
    void count(const ShareTree& tree, FluxJobId id, const BookJob* job);
    /// `is_held_back` of our own jobs: of those of children their child says more.
    static std::function<bool(FluxJobId)> of_own(const std::function<bool(FluxJobId)>& has_withdrawn) {
        return [&has_withdrawn](FluxJobId id) { return !ChildPlaces::is_childs(id) && has_withdrawn(id); };
    }
    /// Whether a job of this payer needs a place of the parent.
    bool needs_parent(const ShareTree& tree, NodeId payer) const;
    bool lacks_grant(FluxJobId id) const { return asks_.has(id) && !asks_.is_granted(id); }
    void count_childs(const ShareTree& tree, FluxJobId id);
    void forget_childs(const ShareTree& tree, FluxJobId id);
    void forget_child(const ShareTree& tree, FluxJobId child);
    void park_placeless(const ShareTree& tree, FluxJobId child);
    bool may_get_place(FluxJobId id) const;
    LimitedJob asked_by_child(FluxJobId id) const;
    void check_childs(const ShareTree& tree, FluxJobId id);
    PlaceWish wish_of(FluxJobId id) const;
    PlaceWish::State wish_state(FluxJobId id, bool is_running, bool is_ready) const;
    void settle_places(const ShareTree& tree);
    LimitedJob asked(const BookJob& job) const;
    std::string words(const ShareTree& tree, const LimitHit& hit) const;
    /// Whether the job is a copy of one that the parent has admitted. The parent checks usage by its own ledger, which
    /// has that of all its children; here the same user may have a much larger part of all. It also knows who else
    /// waits. The counts stay: the parent does not count the jobs that were submitted here.
    bool is_admitted_above(const BookJob& job) const {
        return is_child_ && settings_.takes_parent_factors && job.copy_of != 0;
    }
    void keep_admitted(const ShareTree& tree);
    void find_stranger(const ShareTree& tree, FluxJobId id, const BookJob* job);
    void check(const ShareTree& tree, const BookJob& job);

    const Settings& settings_;
    const JobBook& book_;
    const Payers& payers_;
    ChildReports& children_;
    bool is_child_;
    PlaceAsks asks_;
    ChildPlaces places_;
    std::set<FluxJobId> heard_;  ///< of children: to be answered by the next admit()
    std::optional<MachineSize> machine_;
    Admission admission_;  ///< empty where the tree has no limits
    bool is_limited_ = false;
    bool is_due_ = false;
    std::vector<FluxJobId> admitted_before_;  ///< restart()
    std::set<FluxJobId> capped_;
    std::set<FluxJobId> strangers_;
    std::set<std::string> stopped_;
    std::vector<FluxJobId> changed_;  ///< since for_each_change()
    std::optional<std::set<FluxJobId>> withheld_;
    std::vector<std::pair<FluxJobId, std::string>> refusals_;
};

}  // namespace weir::priority
