// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's dealings with children: attach, detach, reports, and the views for people.
#include <algorithm>

#include "modules/job-route/route_table.hpp"

namespace weir::route {
namespace {

constexpr std::size_t uri_max = 1024;  ///< bytes; a child may be a guest's

}  // namespace

// ---- attach ----

Status RouteTable::attach(const Attach& attach, const Caller& caller) {
    if (!is_synced_) {
        return Error{std::errc::resource_unavailable_try_again, "job-route is still reading its journal"};
    }
    const auto host = jobs_.find(attach.child);
    const std::string who = "job " + std::to_string(attach.child.value);
    const bool is_others = host != jobs_.end() && !caller.is_owner && caller.userid != host->second.userid;
    if (host == jobs_.end() || host->second.routed() != nullptr || !is_in_run(host->second.progress) ||
        (is_others && caller.is_private)) {
        return Error{std::errc::no_such_process, who + " does not run here"};
    }
    if (is_others) {
        return Error{std::errc::operation_not_permitted, who + " belongs to another user"};
    }
    const auto& serves = attach.serves.empty() ? host->second.facts.serves : attach.serves;
    if (serves.empty()) {
        return Error{std::errc::invalid_argument,
                     who +
                         " serves no queue: set [weir.route] serves in its configuration, or "
                         "attributes.system.weir.serves in its jobspec"};
    }
    Child& child = children_[attach.child];
    child.session = attach.session;
    child.is_attached = true;
    child.is_trusted = caller.is_owner;
    child.takes_signals = attach.takes_signals;
    child.node_cores = attach.node_cores;
    child.userid = caller.userid;
    child.serves = serves;
    child.uri = !host->second.uri.empty() ? host->second.uri : attach.uri;
    child.cores = attach.cores;
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
    for (const JobId id : std::set<JobId>(child.given)) {  // settle() may remove some
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

/// The child has a copy of a job that is not its own any more.
void RouteTable::disown(JobId host, Child& child, JobId id, bool has_ended) {
    child.stale.insert(id);
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

// ---- reports ----

Result<std::uint64_t> RouteTable::report(const Report& report) {
    Child* child = attached_child(report.child);
    if (child == nullptr || child->session != report.session) {
        return Error{std::errc::owner_dead, "this session is over: attach again"};
    }
    child->silent_ticks = 0;
    child->own_jobs = report.own_jobs;
    child->own_cores = report.own_cores;
    refile_child(report.child, *child);
    for (const ChildEvent& event : report.events) {
        if (event.seq <= child->seq) {
            continue;
        }
        if (event.seq != child->seq + 1) {
            return Error{std::errc::protocol_error, "report " + std::to_string(event.seq) + " follows " +
                                                        std::to_string(child->seq) + ": some are missing"};
        }
        child->seq = event.seq;
        const auto entry = jobs_.find(event.id);
        if (child->stale.count(event.id) > 0) {
            // A child forgets a copy that it returned: it may never say that it is cleaned.
            if (event.kind == ChildEvent::Kind::cleaned || event.kind == ChildEvent::Kind::returned) {
                child->stale.erase(event.id);
                if (entry != jobs_.end() && entry->second.is_with(report.child)) {
                    fetch(*entry);
                } else {
                    hand_down_.recheck();
                }
            }
        } else if (entry != jobs_.end() && entry->second.is_with(report.child)) {
            apply(*child, *entry, event);
        } else if (event.kind == ChildEvent::Kind::accepted && entry != jobs_.end()) {
            disown(report.child, *child, event.id, false);  // submitted when the link that ordered it was gone
        } else if (event.kind == ChildEvent::Kind::accepted) {
            cancel_copy(report.child, event.id);  // nobody gives it a job that is not active: nothing is kept
        }
    }
    return child->seq;
}

/// It takes jobs again, as after a full disk. A job that it returned in this tick waits for the next one, so that one
/// that it cannot take does not go back and forth without a pause.
void RouteTable::offer_again(Child& child) {
    if (std::erase_if(child.refused, [](const auto& returned) { return returned.second > 0; }) > 0) {
        hand_down_.recheck();
    }
}

/// A repeated event changes nothing: the plugin is asked once for each, and not at all when the journal already has it.
/// A child starts a job only after `go`, which follows the record of its allocation: an earlier start or finish is a
/// guest's lie, and on record it would keep the job in SCHED for ever. An exception that does not end the job is one
/// too: the job may go to another child, and its own end would be taken for that exception.
void RouteTable::apply(Child& child, Entry& entry, const ChildEvent& event) {
    using Kind = ChildEvent::Kind;
    Job& job = entry.second;
    AskedOnce& asked = job.routed()->asked;
    switch (event.kind) {
        case Kind::accepted:
            job.given()->local = event.local;
            child.refusal_pause = 0;
            if (child.is_trusted) {  // a guest's child could take the id of a job that ended here
                copies_.add(entry.first, event.local);
                offer_again(child);
            }
            refile(entry);
            break;
        case Kind::returned:
            on_returned(child, entry);
            break;
        case Kind::allocated:
            on_allocated(entry, event);
            break;
        case Kind::started:
            if (has_alloc(job.progress) && !has_start(job.progress) && asked.add_new(AskedOnce::Step::start)) {
                ask(TapOp::Kind::start, entry);
            }
            break;
        case Kind::finished:
            if ((has_start(job.progress) || asked.has(AskedOnce::Step::start)) && job.progress != Progress::finished &&
                asked.add_new(AskedOnce::Step::finish)) {
                ask(TapOp::Kind::finish, entry).status = event.status;
            }
            break;
        case Kind::exception:
            on_failed(child, entry, event);
            break;
        case Kind::cleaned:
            on_cleaned(entry);
            break;
        case Kind::held_back:
        case Kind::admitted:
            job.given()->is_held_back = event.kind == Kind::held_back;
            refile(entry);
            break;
        case Kind::published:
            if (is_in_run(job.progress) && job.uri != event.note && event.note.size() <= uri_max) {
                job.uri = event.note;
                actions_.uris.emplace_back(entry.first, event.note);
            }
            break;
    }
}

/// The child's scheduler chose among the jobs that are there. It has not started any. If a job of a
/// higher priority is on its way there, or a limit does not allow the job any more, or its user holds it, the reported
/// job is recalled, and its cores become free. A guest's child may say so again and again: it gets the job after a
/// pause.
void RouteTable::on_allocated(Entry& entry, const ChildEvent& event) {
    Job& job = entry.second;
    Given& given = *job.given();
    if (has_alloc(job.progress)) {
        order_go(entry);
    } else if (event.R.empty()) {
        refuse_alloc(entry, event.note);
    } else if (is_ending(job.progress) || given.is_alloc_asked) {
        return;
    } else if (!given.may_have_alloc && (job.urgency == 0 || hand_down_.is_passed_over(entry.first, rules()))) {
        if (Child& child = children_.at(given.child); !child.is_trusted) {
            child.refused.insert_or_assign(entry.first, 0);
        }
        recall(entry);
    } else {
        given.is_alloc_asked = true;
        given.may_have_alloc = true;
        TapOp& op = ask(TapOp::Kind::alloc, entry);
        op.child = given.child;
        op.queue = job.facts.queue;
        op.local = given.local;
        op.R = event.R;
        refile(entry);
    }
}

/// The job ends, and so does the copy (on_exception()), whose resources are unknown here.
void RouteTable::refuse_alloc(Entry& entry, const std::string& why) {
    Job& job = entry.second;
    if (!is_ending(job.progress) && job.routed()->asked.add_new(AskedOnce::Step::refusal)) {
        TapOp& op = ask(TapOp::Kind::exception, entry);
        op.type = "route";
        op.note = "the child instance reported invalid resources: " + why;
    }
}

void RouteTable::on_returned(Child& child, Entry& entry) {
    if (child.refused.empty()) {
        child.refusal_pause = std::clamp(2 * child.refusal_pause, patience_, refusal_pause_max * patience_);
    }
    child.refused.insert_or_assign(entry.first, 0);
    if (has_alloc(entry.second.progress)) {  // RFC 21 has no way from RUN back to SCHED
        lose(entry, "its child instance gave it up after allocation");
        return;
    }
    // An allocation that the plugin has been asked for may still come on record; on_alloc() then finds it without a
    // child.
    take_back(entry);
}

/// A job that a child cannot run is no more lost than one that it returned, as long as another may run it.
void RouteTable::on_failed(Child& child, Entry& entry, const ChildEvent& event) {
    Job& job = entry.second;
    AskedOnce& asked = job.routed()->asked;
    if (event.severity != 0 || is_ending(job.progress) || asked.has(AskedOnce::Step::finish) ||
        asked.has(AskedOnce::Step::failure)) {
        return;
    }
    std::string note = event.note;
    const bool is_unfit = event.type == "alloc" && child.is_trusted && !has_alloc(job.progress) &&
                          !job.given()->is_alloc_asked && !job.given()->may_have_alloc;
    if (is_unfit) {
        if (try_others(child, entry, event.note)) {
            return;
        }
        note = why_unfit(entry);
    }
    asked.add(AskedOnce::Step::failure);
    TapOp& op = ask(TapOp::Kind::exception, entry);
    op.type = event.type;
    op.note = note;
}

void RouteTable::on_cleaned(Entry& entry) {
    Job& job = entry.second;
    if ((has_alloc(job.progress) || job.given()->is_alloc_asked) &&
        job.routed()->asked.add_new(AskedOnce::Step::clean)) {
        ask(TapOp::Kind::clean, entry);
        refile(entry);
    }
}

// ---- views ----

bool RouteTable::is_routed(JobId id) const {
    const auto entry = jobs_.find(id);
    return entry != jobs_.end() && entry->second.routed() != nullptr;
}

std::vector<ChildView> RouteTable::children() const {
    std::vector<ChildView> views;
    for (const auto& [id, child] : children_) {
        ChildView view = *child_without_counts(id);
        view.done = child.done;
        view.own_jobs = child.own_jobs;
        view.own_cores = child.own_cores;
        for (const JobId job : child.given) {
            const auto entry = jobs_.find(job);
            if (entry != jobs_.end() && has_alloc(entry->second.progress)) {
                view.running += 1;
            } else {
                view.pending += 1;
            }
        }
        views.push_back(std::move(view));
    }
    return views;
}

std::optional<ChildView> RouteTable::child_without_counts(JobId id) const {
    const auto found = children_.find(id);
    if (found == children_.end()) {
        return std::nullopt;
    }
    const Child& child = found->second;
    return ChildView{id, child.serves, child.uri, child.is_attached, child.lost_ticks, child.cores, 0, 0, 0, 0};
}

std::int64_t RouteTable::jobs_with(JobId child) const {
    const auto found = children_.find(child);
    return found != children_.end() ? static_cast<std::int64_t>(found->second.given.size()) + found->second.own_jobs
                                    : 0;
}

std::vector<JobId> RouteTable::instance_jobs() const {
    std::vector<JobId> ids;
    for (const auto& [id, job] : jobs_) {
        if (!job.facts.serves.empty()) {
            ids.push_back(id);
        }
    }
    return ids;
}

const RouteJob* RouteTable::active(JobId id) const {
    const auto found = jobs_.find(id);
    return found != jobs_.end() ? &found->second : nullptr;
}

std::vector<JobId> RouteTable::trusted_children() const {
    std::vector<JobId> ids;
    for (const auto& [id, child] : children_) {
        if (child.is_attached && child.is_trusted) {
            ids.push_back(id);
        }
    }
    return ids;
}

Result<JobView> RouteTable::find(JobId id) const {
    const auto entry = jobs_.find(id);
    if (entry == jobs_.end() || entry->second.routed() == nullptr) {
        return Error{std::errc::no_such_file_or_directory,
                     "job " + std::to_string(id.value) + " is not an active routed job"};
    }
    const Job& job = entry->second;
    const Given* given = job.given();
    return JobView{job.facts.queue, given != nullptr ? given->child : JobId{},
                   given != nullptr ? given->local : LocalId{}, has_alloc(job.progress)};
}

std::string RouteTable::partition_of(JobId id) const {
    const auto child = children_.find(id);
    const auto host = jobs_.find(id);
    const bool is_known = child != children_.end() && child->second.is_trusted && host != jobs_.end();
    return is_known ? host->second.facts.partition : std::string();
}

std::string RouteTable::R_of(JobId id) const {
    const auto entry = jobs_.find(id);
    const Own* own = entry != jobs_.end() ? std::get_if<Own>(&entry->second.role) : nullptr;
    return own != nullptr ? own->R : std::string();
}

std::int64_t RouteTable::own_jobs() const {
    std::int64_t count = own_jobs_;
    for (const auto& [id, child] : children_) {
        count += child.own_jobs;
    }
    return std::min(count, own_jobs_max);
}

std::int64_t RouteTable::own_cores(const std::vector<std::string>& serves) const {
    std::int64_t cores = own_cores_;
    for (const JobId id : hosts_) {
        const RouteJob& host = jobs_.at(id);
        const bool is_for_these = std::any_of(
            host.facts.serves.begin(), host.facts.serves.end(),
            [&](const std::string& queue) { return std::find(serves.begin(), serves.end(), queue) != serves.end(); });
        const auto child = children_.find(id);
        if (!is_for_these && has_alloc(host.progress)) {
            cores += host.facts.cores;
        } else if (is_for_these && child != children_.end()) {
            cores += std::min(child->second.own_cores, host.facts.cores);  // a child has no more than its job
        }
    }
    return std::min(cores, cores_max);
}

std::int64_t RouteTable::waiting() const {
    return std::count_if(jobs_.begin(), jobs_.end(), [](const Entry& entry) {
        return entry.second.is_unplaced() && !is_ending(entry.second.progress);
    });
}

std::int64_t RouteTable::waiting_for(const std::string& queue) const {
    return std::count_if(jobs_.begin(), jobs_.end(), [&queue](const Entry& entry) {
        const Job& job = entry.second;
        return job.routed() != nullptr && job.facts.queue == queue && !has_alloc(job.progress) &&
               !is_ending(job.progress);
    });
}

}  // namespace weir::route
