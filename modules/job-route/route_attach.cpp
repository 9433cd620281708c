// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's part in the attach of a child: who may attach, and what becomes of the jobs that either side has.
#include <algorithm>

#include "modules/job-route/route_table.hpp"

namespace weir::route {
namespace {

/// Jobs that a child of another user than the owner may know.
constexpr std::size_t guest_known_max = 1U << 16;

}  // namespace

void RouteTable::list_running(const Entry& entry) {
    const auto& [id, job] = entry;
    if (job.routed() != nullptr) {
        return;
    }
    if (is_in_run(job.progress)) {
        running_here_.emplace(job.userid, id);
    } else {
        running_here_.erase({job.userid, id});
    }
}

Status RouteTable::may_have_child(const Caller& caller) const {
    if (!is_synced_) {
        return Error{std::errc::resource_unavailable_try_again, "job-route is still reading its journal"};
    }
    const auto first = running_here_.lower_bound({caller.userid, JobId{}});
    if (!caller.is_owner && (first == running_here_.end() || first->first != caller.userid)) {
        return Error{std::errc::no_such_process, "no job of yours runs here"};
    }
    return Done{};
}

Status RouteTable::may_attach(const AttachHead& head, const Caller& caller) const {
    if (!is_synced_) {
        return Error{std::errc::resource_unavailable_try_again, "job-route is still reading its journal"};
    }
    const auto host = jobs_.find(head.child);
    const std::string who = "job " + std::to_string(head.child.value);
    const bool is_others = host != jobs_.end() && !caller.is_owner && caller.userid != host->second.userid;
    if (host == jobs_.end() || host->second.routed() != nullptr || !is_in_run(host->second.progress) ||
        (is_others && caller.is_private)) {
        return Error{std::errc::no_such_process, who + " does not run here"};
    }
    if (is_others) {
        return Error{std::errc::operation_not_permitted, who + " belongs to another user"};
    }
    if (!caller.is_owner && head.known > guest_known_max) {
        return Error{std::errc::invalid_argument, who + " knows " + std::to_string(head.known) + " jobs; it may know " +
                                                      std::to_string(guest_known_max)};
    }
    if (head.serves == 0 && host->second.facts.serves.empty()) {
        return Error{std::errc::invalid_argument,
                     who +
                         " serves no queue: set [weir.route] serves in its configuration, or "
                         "attributes.system.weir.serves in its jobspec"};
    }
    return Done{};
}

/// A guest's child has no more cores than its own job: each one that it has not would cost time in every plan.
Status RouteTable::attach(const Attach& attach, const Caller& caller) {
    const AttachHead head{attach.child, attach.serves.size(), attach.known.size()};
    if (Status status = may_attach(head, caller); !status) {
        return status;
    }
    const RouteJob& host = jobs_.at(attach.child);
    const std::int64_t host_cores = host.cores > 0 ? host.cores : host.facts.cores;
    Child& child = children_[attach.child];
    child.session = attach.session;
    child.is_attached = true;
    child.is_trusted = caller.is_owner;
    child.takes_signals = attach.takes_signals;
    child.node_cores = attach.node_cores;
    child.userid = caller.userid;
    child.serves = attach.serves.empty() ? host.facts.serves : attach.serves;
    child.uri = !host.uri.empty() ? host.uri : attach.uri;
    child.cores = caller.is_owner ? attach.cores : std::min(attach.cores, host_cores);
    child.own_jobs = attach.own_jobs;
    child.own_cores = attach.own_cores;
    child.seq = 0;
    child.silent_ticks = 0;
    child.lost_ticks = 0;
    if (child.is_trusted) {  // a guest's child could have its jobs posted as often as it attaches
        child.refused.clear();
        child.refusal_pause = 0;
        forget_unfit(attach.child);
    }
    child.stale.clear();
    child.first.clear();
    child.is_complete = true;  // until it is known below what is to be sent first

    settle_all(attach.child, child, attach.known);
    are_children_changed_ = true;
    empty(attach.child, child);
    refile_child(attach.child, child);
    hand_down_.rules_changed();
    hand_down();
    list_first(child);
    prune_first(attach.child, child);
    return Done{};
}

void RouteTable::list_first(Child& child) {
    for (const JobId id : child.given) {
        const auto entry = jobs_.find(id);
        const Given* given = entry != jobs_.end() ? entry->second.given() : nullptr;
        if (entry != jobs_.end() && (given == nullptr || (!given->is_sent && !is_ending(entry->second.progress)))) {
            child.first.insert(id);
        }
    }
    child.first.insert(child.stale.begin(), child.stale.end());
    child.is_complete = false;
}

/// Reconciles the jobs that the record gives to the child with those that the child reports.
void RouteTable::settle_all(JobId host, Child& child, const std::vector<KnownJob>& known_jobs) {
    std::map<JobId, const KnownJob*> known;
    for (const KnownJob& job : known_jobs) {
        known.emplace(job.id, &job);
    }
    for (const JobId id : jobs_given(child)) {  // settle() may remove some
        const auto entry = jobs_.find(id);
        if (entry != jobs_.end() && entry->second.is_with(host)) {
            const auto found = known.find(id);
            settle(*entry, found != known.end() ? found->second : nullptr);
            refile(*entry);
            known.erase(id);
        }
    }
    for (const auto& [id, job] : known) {
        disown(host, child, id, job->has_ended);
    }
}

void RouteTable::cancel_copy(JobId host, JobId id) {
    Order cancel;
    cancel.kind = Order::Kind::cancel;
    cancel.id = id;
    cancel.type = "cancel";
    cancel.note = "the parent no longer wants it";
    actions_.orders.emplace_back(host, std::move(cancel));
}

/// The child has a copy of a job that is not its own any more. Only a job that it may get again is kept in mind: a
/// guest may say that his child knows any number of others.
void RouteTable::disown(JobId host, Child& child, JobId id, bool has_ended) {
    const auto entry = jobs_.find(id);
    if (entry != jobs_.end() && is_allowed(child, entry->second)) {
        child.stale.insert(id);
    }
    if (!has_ended) {
        cancel_copy(host, id);
    }
}

/// Reconciles a job that the record gives to this child with what the child reports about it.
void RouteTable::settle(Entry& entry, const KnownJob* known) {
    Job& job = entry.second;
    Given& given = *job.given();
    if (known == nullptr) {
        if (has_alloc(job.progress)) {
            lose(entry, "the child instance no longer knows it");
        } else if (!is_ending(job.progress)) {
            given.is_sent = false;
            fetch(entry);
        }
        return;
    }
    if (known->is_unwanted && !is_ending(job.progress) && !has_alloc(job.progress)) {
        // Cancelled when it was not this child's, then routed to it, and the order to submit it anew never arrived; or
        // this module began anew before the job was on record as taken back. It is submitted again when the copy is
        // gone.
        given.is_sent = false;
        children_.at(given.child).stale.insert(entry.first);
        return;
    }
    given.is_sent = true;
    given.is_held_back = false;                      // else the child says so
    given.is_alloc_asked = has_alloc(job.progress);  // a reloaded plugin has forgotten earlier requests
    if (is_ending(job.progress)) {
        if (!known->has_ended) {
            Order cancel;
            cancel.kind = Order::Kind::cancel;
            cancel.type = "cancel";
            cancel.note = "it ended in the parent";
            order(entry, std::move(cancel));
        }
    } else if (!is_in_run(job.progress)) {
        if (known->urgency != job.urgency) {
            Order change;
            change.kind = Order::Kind::urgency;
            change.urgency = job.urgency;
            order(entry, std::move(change));
        }
        if (job.is_held_back()) {
            recall(entry);
        } else {
            order_priority(entry);
        }
    }
}

void RouteTable::detach(JobId id, const std::string& session) {
    const auto child = children_.find(id);
    if (child != children_.end() && child->second.session == session) {
        child->second.is_attached = false;
        are_children_changed_ = true;
        refile_child(id, child->second);
    }
}

}  // namespace weir::route
