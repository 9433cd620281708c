// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ChildLink. See child_link.hpp.
#include "modules/job-route/child_link.hpp"

#include <utility>

namespace weir::route {

// ---- the two ids of a copy ----

void ChildLink::drop_local(const Entry& entry) {
    if (const LocalId local = entry.second.local; local.value != 0) {
        by_local_.erase(local);
        ended_.add(entry.first, local);
    }
}

void ChildLink::forget(Jobs::iterator job) {
    drop_local(*job);
    jobs_.erase(job);
}

LocalId ChildLink::local_of(JobId id) const {
    const auto job = jobs_.find(id);
    return job != jobs_.end() && job->second.local.value != 0 ? job->second.local : ended_.local_of(id);
}

JobId ChildLink::parent_of(LocalId local) const {
    if (const auto entry = by_local_.find(local); entry != by_local_.end()) {
        return entry->second->first;
    }
    const std::vector<JobId> ids = ended_.ids_of(local);
    return ids.size() == 1 && local_of(ids.front()) == local ? ids.front() : JobId{};
}

// ---- orders ----

void ChildLink::raise(LocalId local, const std::string& type, const std::string& note) {
    LocalOp op;
    op.job = local;
    op.type = type;
    op.note = note;
    actions_.ops.push_back(std::move(op));
}

void ChildLink::release(LocalId local) {
    LocalOp op;
    op.kind = LocalOp::Kind::go;
    op.job = local;
    actions_.ops.push_back(std::move(op));
}

void ChildLink::change_urgency(const Job& job) {
    LocalOp op;
    op.kind = LocalOp::Kind::urgency;
    op.job = job.local;
    op.urgency = job.urgency;
    actions_.ops.push_back(std::move(op));
}

/// A job that ended while its prolog was open needs `go` too, or it keeps its resources for ever.
void ChildLink::follow_prolog(LocalId local, const JournalEvent& event) {
    using Kind = JournalEvent::Kind;
    if (event.kind == Kind::prolog_start && event.type == go_prolog) {
        held_.emplace(local, false);
    } else if (event.kind == Kind::clean || (event.kind == Kind::prolog_finish && event.type == go_prolog)) {
        held_.erase(local);
    } else if (event.kind == Kind::finish || (event.kind == Kind::exception && event.severity == 0)) {
        const auto held = held_.find(local);
        if (held != held_.end() && !std::exchange(held->second, true) && is_synced_) {
            release(local);
        }
    }
}

/// A second local job for a job of the parent that is here already. Its prolog is open, as that of every copy, and it
/// gets no `go`.
void ChildLink::disown(LocalId local) {
    if (disowned_.insert(local).second && is_synced_) {
        raise(local, "cancel", "a second copy of a job of the parent");
    }
}

void ChildLink::order_submit(Order order) {
    const auto [found, is_new] = jobs_.try_emplace(order.id);
    Entry& entry = *found;
    if (!is_new) {
        if (!entry.second.has_ended && !entry.second.is_returned) {
            return;  // it is here; what was told of it is reported to the parent
        }
        drop_local(entry);  // its end was reported, else the parent would not send it again
        entry.second = Job{};
    }
    entry.second.urgency = entry.second.local_urgency = order.urgency;
    entry.second.is_submitting = true;
    order_priority(entry, order.priority);
    actions_.submits.push_back(std::move(order));
    submitting_ += 1;
}

void ChildLink::order_priority(Entry& entry, std::int64_t priority) {
    if (entry.second.priority != priority) {
        entry.second.priority = priority;
        actions_.priorities.push_back({entry.first, priority});
    }
}

void ChildLink::order_cancel(Job& job, const Order& order) {
    if (job.is_returned || job.has_ended || std::exchange(job.is_cancel_asked, true)) {
        return;
    }
    words_of(job).cancel_type = order.type;
    words_of(job).cancel_note = order.note;
    if (job.local.value != 0) {
        raise(job.local, order.type, order.note);
    }
}

/// The journal may tell of an older order when a newer one comes: an order is left out only if it repeats the last one
/// and the copy has it.
void ChildLink::order_urgency(Job& job, int urgency) {
    const bool is_news = urgency != job.urgency || urgency != job.local_urgency;
    job.urgency = urgency;
    if (is_news && job.local.value != 0 && !job.is_allocated) {
        change_urgency(job);
    }
}

/// A signal is of the moment: processes that do not run yet, or no longer, do not get it.
void ChildLink::order_signal(const Job& job, int signum) {
    if (job.local.value != 0 && job.is_allocated && !job.has_ended) {
        LocalOp op;
        op.kind = LocalOp::Kind::signal;
        op.job = job.local;
        op.signum = signum;
        actions_.ops.push_back(std::move(op));
    }
}

void ChildLink::order(Order order) {
    if (order.kind == Order::Kind::submit) {
        order_submit(std::move(order));
        return;
    }
    if (order.kind == Order::Kind::complete) {
        is_complete_ordered_ = true;
        return;
    }
    const auto found = jobs_.find(order.id);
    if (found == jobs_.end()) {
        return;
    }
    Job& job = found->second;
    if (order.kind == Order::Kind::cancel) {
        order_cancel(job, order);
    } else if (order.kind == Order::Kind::signal) {
        order_signal(job, order.signum);
    } else if (order.kind == Order::Kind::priority) {
        order_priority(*found, order.priority);
    } else if (order.kind == Order::Kind::urgency) {
        order_urgency(job, order.urgency);
    } else if (job.is_allocated && !job.is_returned && !job.has_ended && !std::exchange(job.has_go, true)) {
        release(job.local);
    }
}

// ---- this child's own jobs ----

void ChildLink::submit_done(JobId id, LocalId local) {
    submitting_ -= submitting_ > 0 ? 1 : 0;
    const auto found = jobs_.find(id);
    if (found != jobs_.end()) {
        found->second.is_submitting = false;
    }
    take_local(found, local);
}

void ChildLink::take_local(Jobs::iterator found, LocalId local) {
    if (found == jobs_.end() || (found->second.local.value != 0 && found->second.local != local)) {
        if (by_local_.count(local) == 0) {
            disown(local);
        }
        return;
    }
    Job& job = found->second;
    const bool is_news = std::exchange(job.local, local).value == 0;
    by_local_.insert_or_assign(local, &*found);
    if (is_news && job.is_cancel_asked) {
        raise(local, job.words->cancel_type, job.words->cancel_note);
    } else if (is_news && job.urgency != job.local_urgency) {
        change_urgency(job);
    }
}

void ChildLink::submit_failed(JobId id, const std::string& why, bool is_transient) {
    submitting_ -= submitting_ > 0 ? 1 : 0;
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || found->second.local.value != 0) {
        return;
    }
    actions_.priorities.push_back({id, std::nullopt});
    if (is_transient) {
        found->second.is_returned = true;
        record(*found, ChildEvent::Kind::returned);
    } else {
        ChildEvent failed;
        failed.kind = ChildEvent::Kind::exception;
        failed.type = "route";
        failed.note = "the child instance did not take it: " + why;
        record(*found, std::move(failed));
    }
    found->second.has_ended = true;
    record(*found, ChildEvent::Kind::cleaned);
}

void ChildLink::failed(const LocalOp& op) {
    failed_.insert_or_assign({op.job, op.kind}, op);
}

bool ChildLink::is_needed(const LocalOp& op) const {
    if (op.kind == LocalOp::Kind::go) {
        return held_.count(op.job) > 0;
    }
    const auto entry = by_local_.find(op.job);
    if (entry == by_local_.end()) {
        return disowned_.count(op.job) > 0;
    }
    const Job& job = entry->second->second;
    if (op.kind == LocalOp::Kind::urgency) {
        return !job.has_ended && !job.is_allocated && job.urgency == op.urgency;
    }
    return !job.has_ended && !job.is_returned && !job.has(ChildEvent::Kind::exception);
}

void ChildLink::repeat() {
    for (auto& [which, op] : std::exchange(failed_, {})) {
        if (is_needed(op)) {
            actions_.ops.push_back(std::move(op));
        }
    }
}

void ChildLink::submitted(LocalId local, const JournalEvent& event, const JobFacts& facts) {
    auto [found, is_new] = jobs_.try_emplace(JobId{facts.upstream});
    if (const LocalId known = found->second.local; known.value != 0 && known != local) {
        if (!found->second.is_returned) {
            disown(local);
            return;
        }
        drop_local(*found);
        found->second = Job{};
        is_new = true;
    }
    if (is_new) {
        found->second.urgency = found->second.local_urgency = event.urgency;
    }
    take_local(found, local);
}

void ChildLink::on_exception(Entry& entry, const JournalEvent& event) {
    Job& job = entry.second;
    if (event.severity != 0 || job.is_returned || job.has(ChildEvent::Kind::finished)) {
        return;
    }
    if (event.type == "cancel" && !job.is_cancel_asked && !job.has(ChildEvent::Kind::started)) {
        // It did not start and the parent did not ask for it: an instance that shuts down cancels all its jobs. The
        // parent decides whether another child may get the job: it knows whether the job was released.
        job.is_returned = true;
        record(entry, ChildEvent::Kind::returned);
        return;
    }
    ChildEvent failed;
    failed.kind = ChildEvent::Kind::exception;
    failed.local = job.local;
    failed.type = event.type;
    failed.severity = event.severity;
    failed.note = event.note;
    record(entry, std::move(failed));
}

void ChildLink::on_clean(Entry& entry) {
    Job& job = entry.second;
    if (is_refused(job)) {  // its submission's answer says why
        drop_local(entry);
        job.local = {};
        return;
    }
    job.has_ended = true;
    if (job.priority) {
        actions_.priorities.push_back({entry.first, std::nullopt});
    }
    record(entry, ChildEvent::Kind::cleaned);
}

/// A copy is there for the parent when the scheduler knows it, since its cores may be given to it from then on; or when
/// something else has become of it.
bool ChildLink::is_there(const Job& job, const JournalEvent& event) const {
    using Kind = JournalEvent::Kind;
    return event.kind == Kind::priority || event.kind == Kind::alloc ||
           (event.kind == Kind::exception && event.severity == 0) || (event.kind == Kind::clean && !is_refused(job));
}

/// A plugin of this instance refused it after its event `submit`: no other job ends without a reason.
bool ChildLink::is_refused(const Job& job) const {
    return job.is_submitting && !job.is_allocated && !job.is_returned && !job.has(ChildEvent::Kind::exception);
}

void ChildLink::event(LocalId local, const JournalEvent& event) {
    using Kind = JournalEvent::Kind;
    follow_prolog(local, event);
    if (event.kind == Kind::clean && disowned_.erase(local) > 0) {
        return;
    }
    const auto found = by_local_.find(local);
    if (found == by_local_.end()) {
        return;
    }
    Entry& entry = *found->second;
    Job& job = entry.second;
    if (is_there(job, event)) {
        record(entry, ChildEvent::Kind::accepted);
    }
    ChildEvent told;
    told.local = local;
    switch (event.kind) {
        case Kind::urgency:
            job.local_urgency = event.urgency;
            break;
        case Kind::priority:
            hold_back(entry, event.priority == 0 && job.local_urgency != 0);
            break;
        case Kind::alloc:
            hold_back(entry, false);
            job.is_allocated = true;
            told.kind = ChildEvent::Kind::allocated;
            told.R = event.R;
            record(entry, std::move(told));
            break;
        case Kind::start:
            job.has_go = true;
            record(entry, ChildEvent::Kind::started);
            break;
        case Kind::prolog_finish:
            job.has_go = job.has_go || event.type == go_prolog;
            break;
        case Kind::finish:
            told.kind = ChildEvent::Kind::finished;
            told.status = event.status;
            record(entry, std::move(told));
            break;
        case Kind::exception:
            on_exception(entry, event);
            break;
        case Kind::memo_uri:
            told.kind = ChildEvent::Kind::published;
            told.note = event.note;
            record(entry, std::move(told));
            break;
        case Kind::clean:
            on_clean(entry);
            break;
        default:
            break;
    }
}

void ChildLink::synced() {
    is_synced_ = true;
    for (const LocalId local : disowned_) {
        raise(local, "cancel", "a second copy of a job of the parent");
    }
    for (const auto& [local, has_ended] : held_) {
        if (has_ended) {
            release(local);
        }
    }
}

}  // namespace weir::route
