// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the active jobs from the journal: request, urgency, payer, and the wait of each.
// Must not know: how a payer is found (payers.hpp), accounts' shares, usage, priorities. Source: RFC 21 (states), RFC
// 30 (urgency).
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libsched/priority/ageing.hpp"
#include "modules/job-priority/jobs/job_event.hpp"
#include "modules/job-priority/jobs/last_found.hpp"
#include "modules/job-priority/jobs/request_pool.hpp"

namespace weir::priority {

inline constexpr int urgency_held = 0;
inline constexpr int urgency_expedited = 31;

/// One active job.
struct BookJob {
    FluxJobId id = 0;
    FluxJobId copy_of = 0;  ///< the parent's job of which this is the copy; 0: none
    std::uint32_t userid = 0;
    SharedRequest request = plain_request();
    int urgency = 16;
    Instant submit;
    Instant first_submit;        ///< at whatever level: the age that decides among equal priorities
    Instant submit_stamp;        ///< the same as the eventlog has it: names the job together with its id
    bool is_eligible = false;    ///< its `depend` event was seen
    bool has_resources = false;  ///< between alloc and free
    bool is_over = false;        ///< freed, or ended without resources: waits for `clean`
    std::int64_t got_cores = 0;  ///< by its alloc
    std::int64_t got_nodes = 0;
    NodeId payer = unassociated;     ///< of a job that waits, as of the last event; a running one keeps it
    std::uint32_t factor = 0;        ///< the number of its factor among the parent's
    std::uint64_t payer_basis = 0;   ///< see set_payer()
    std::uint64_t factor_basis = 0;  ///< see set_factor()
    Ageing ageing;                   ///< begins and pauses with: eligible, not held, without resources

    bool is_held() const { return urgency == urgency_held; }
    bool is_expedited() const { return urgency == urgency_expedited; }
    /// Waits for resources: in PRIORITY or SCHED.
    bool is_pending() const { return is_eligible && !has_resources && !is_over; }
    /// The user whose share the job uses.
    std::uint32_t charged_userid() const { return request->routed_for.value_or(userid); }
};

/// The effect of an event.
enum class BookChange {
    none,
    inputs,   ///< a pending job appeared or its priority's inputs changed
    started,  ///< it got resources
    ended,    ///< it freed them
    gone,     ///< it left the book (it was not in it, or had no resources, for the other values)
};

/// One event, as the stages after the book get it.
struct AppliedEvent {
    const JobEvent& event;
    BookChange change = BookChange::none;
    const BookJob* job = nullptr;  ///< null: unknown to the book; a removed job as it was, until the next event
    bool is_new = false;           ///< it came into the book by this event
    bool is_live = true;           ///< it is not one of a backlog

    bool is_active() const { return job != nullptr && change != BookChange::gone; }
};

class JobBook {
  public:
    /// \param owner the instance's owner: only the owner may submit for another user, or declare that a job is an
    /// instance that serves queues
    explicit JobBook(std::uint32_t owner, AgeRule rule = AgeRule::while_eligible) : owner_(owner), rule_(rule) {}

    /// Sets how jobs age that are submitted from now on.
    void set_age_rule(AgeRule rule) { rule_ = rule; }

    /// Events of one job come in their order; events of unknown jobs, but for submit, are ignored, and so is a second
    /// submit of a known job (a replay). The result refers to the event. O(1) expected, a submit O(log requests).
    AppliedEvent apply(const JobEvent& event, bool is_live = true);
    /// Whether the event removes a job that holds resources: the journal lost its `free`.
    bool lacks_free(const JobEvent& event) const;

    /// Stores the payer of a job of the book. O(1) expected.
    /// \param basis  of what it was found; 0: of something else than the job and what Membership compares
    void set_payer(FluxJobId id, NodeId payer, std::uint64_t basis = 0);
    /// Keeps which of the parent's factors is that of a job of the book. O(1) expected.
    /// \param basis  of what it was found, besides the job: see Ranking::factor_basis()
    void set_factor(FluxJobId id, std::uint32_t factor, std::uint64_t basis);
    /// What was found for jobs like this one; valid until the next call. O(length of the names).
    FoundTerms& found_like(const BookJob& job) { return last_found_.of(job.charged_userid(), job.request); }
    /// After another tree is in force. \param moved  by old node, who pays now   O(jobs).
    void follow_tree(std::span<const NodeId> moved);

    /// Removes every job, before a new backlog.
    void clear() { jobs_.clear(); }

    std::uint32_t owner() const { return owner_; }
    const BookJob* find(FluxJobId id) const;
    /// The user whose share a job of this submission uses.
    std::uint32_t charged_userid(const SubmitEvent& submit) const {
        return submit.userid == owner_ ? submit.request.routed_for.value_or(submit.userid) : submit.userid;
    }
    /// Whether the owner of the instance submitted it, for no other user.
    bool is_owners(const BookJob& job) const { return job.userid == owner_ && job.charged_userid() == owner_; }
    /// Whether a child instance in it is a partition: its unused cores are idle time, which no user pays.
    bool is_partition(const BookJob& job) const { return is_owners(job) && !job.request->names_account(); }
    bool is_partition(const SubmitEvent& submit) const {
        return submit.userid == owner_ && charged_userid(submit) == owner_ && !submit.request.names_account();
    }
    /// In order of id. Valid until a job comes or goes. O(jobs log jobs).
    std::vector<const BookJob*> in_order() const;
    /// In no order.
    const std::unordered_map<FluxJobId, BookJob>& jobs() const { return jobs_; }
    std::set<FluxJobId> pending() const;
    std::size_t size() const { return jobs_.size(); }

  private:
    /// Its request, without what only the owner may request.
    SharedRequest believed(const SubmitEvent& submit);
    AppliedEvent submit(const JobEvent& event, const SubmitEvent& submit, bool is_live);
    BookChange on(BookJob& job, const DependEvent&, Instant time);
    BookChange on(BookJob& job, const UrgencyEvent& event, Instant time);
    BookChange on(BookJob& job, const UpdateEvent& event, Instant time);
    BookChange on(BookJob& job, const AllocEvent& event, Instant time);
    BookChange on(BookJob& job, const FreeEvent&, Instant time);
    std::uint32_t owner_;
    AgeRule rule_;
    RequestPool requests_;
    LastFound last_found_;
    std::unordered_map<FluxJobId, BookJob> jobs_;
    std::optional<BookJob> gone_;  ///< the job that was removed last
};

}  // namespace weir::priority
