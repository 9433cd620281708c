// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ChildLink. See child_link.hpp.
#include "modules/job-route/child_link.hpp"

#include <algorithm>

namespace weir::route {

// ---- reports to the parent ----

bool ChildLink::has(const Job& job, ChildEvent::Kind kind) const {
    return std::any_of(job.history.begin(), job.history.end(), [kind](const ChildEvent& e) { return e.kind == kind; });
}

/// Each kind is reported once for a job.
void ChildLink::record(JobId id, Job& job, ChildEvent event) {
    if (has(job, event.kind)) {
        return;
    }
    event.id = id;
    job.history.push_back(event);
    append(std::move(event));
}

void ChildLink::append(ChildEvent event) {
    if (is_attached_) {
        event.seq = ++last_seq_;
        outbox_.push_back(std::move(event));
    }
}

/// The history has what the parent must know when it attaches again: only that a job is held back now.
void ChildLink::hold_back(JobId id, Job& job, bool is_held_back) {
    if (std::exchange(job.is_held_back, is_held_back) == is_held_back) {
        return;
    }
    if (is_held_back) {
        record(id, job, ChildEvent::Kind::held_back);
        return;
    }
    std::erase_if(job.history, [](const ChildEvent& event) { return event.kind == ChildEvent::Kind::held_back; });
    ChildEvent admitted;
    admitted.id = id;
    admitted.kind = ChildEvent::Kind::admitted;
    admitted.local = job.local;
    append(std::move(admitted));
}

void ChildLink::record(JobId id, Job& job, ChildEvent::Kind kind) {
    ChildEvent event;
    event.kind = kind;
    event.local = job.local;
    record(id, job, std::move(event));
}

std::vector<KnownJob> ChildLink::known() const {
    std::vector<KnownJob> known;
    known.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) {
        const bool is_unwanted = job.is_cancel_asked && !has(job, ChildEvent::Kind::started);
        known.push_back({id, job.has_ended, job.local_urgency, is_unwanted});
    }
    return known;
}

void ChildLink::attached() {
    is_attached_ = true;
    is_report_out_ = false;
    last_seq_ = 0;
    sent_seq_ = 0;
    outbox_.clear();
    for (const auto& [id, job] : jobs_) {
        for (ChildEvent event : job.history) {
            event.seq = ++last_seq_;
            outbox_.push_back(std::move(event));
        }
    }
}

std::vector<GivenPriority> ChildLink::priorities() const {
    std::vector<GivenPriority> all;
    for (const auto& [id, job] : jobs_) {
        if (job.priority && !job.has_ended) {
            all.push_back({id, job.priority});
        }
    }
    return all;
}

/// Meanwhile the parent may give this child more jobs: only the next session's `complete` is behind these.
void ChildLink::lost() {
    is_attached_ = false;
    is_complete_ordered_ = false;
    is_report_out_ = false;
    outbox_.clear();
}

std::vector<ChildEvent> ChildLink::next_report(std::size_t max) {
    if (!is_attached_ || is_report_out_ || outbox_.empty()) {
        return {};
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min(max, outbox_.size()));
    std::vector<ChildEvent> batch(outbox_.begin(), outbox_.begin() + count);
    sent_seq_ = batch.back().seq;
    is_report_out_ = true;
    return batch;
}

/// A job whose end the parent has recorded is forgotten. So is one that was returned: the parent may send it again, and
/// the events of the first copy must not be reported for the second.
void ChildLink::acked(std::uint64_t seq) {
    is_report_out_ = false;
    const auto end = std::find_if(outbox_.begin(), outbox_.end(), [seq](const ChildEvent& e) { return e.seq > seq; });
    for (auto event = outbox_.begin(); event != end; ++event) {
        const auto job = jobs_.find(event->id);
        const bool is_last = event->kind == ChildEvent::Kind::cleaned || event->kind == ChildEvent::Kind::returned;
        if (is_last && job != jobs_.end() && job->second.local == event->local) {
            copies_.ended(event->id);
            by_local_.erase(event->local);
            jobs_.erase(job);
        }
    }
    outbox_.erase(outbox_.begin(), end);
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
    const bool is_go_prolog = event.type == go_prolog;
    if (event.kind == Kind::prolog_start && is_go_prolog) {
        held_.emplace(local, false);
    } else if (event.kind == Kind::clean || (event.kind == Kind::prolog_finish && is_go_prolog)) {
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

void ChildLink::order_submit(const Order& order) {
    const auto found = jobs_.find(order.id);
    if (found != jobs_.end()) {
        if (!found->second.has_ended && !found->second.is_returned) {
            return;  // it is here; its history is reported to the parent
        }
        by_local_.erase(found->second.local);  // its end was reported, else the parent would not send it again
        jobs_.erase(found);
    }
    Job& job = jobs_[order.id];
    job.urgency = job.local_urgency = order.urgency;
    job.is_submitting = true;
    order_priority(order.id, job, order.priority);
    actions_.submits.push_back(order);
    submitting_ += 1;
}

void ChildLink::order_priority(JobId id, Job& job, std::int64_t priority) {
    if (job.priority != priority) {
        job.priority = priority;
        actions_.priorities.push_back({id, priority});
    }
}

void ChildLink::order_cancel(Job& job, const Order& order) {
    if (job.is_returned || job.has_ended || std::exchange(job.is_cancel_asked, true)) {
        return;
    }
    job.cancel_type = order.type;
    job.cancel_note = order.note;
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

void ChildLink::order(const Order& order) {
    if (order.kind == Order::Kind::submit) {
        order_submit(order);
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
        order_priority(order.id, job, order.priority);
    } else if (order.kind == Order::Kind::urgency) {
        order_urgency(job, order.urgency);
    } else if (job.is_allocated && !job.is_returned && !job.has_ended && !std::exchange(job.has_go, true)) {
        release(job.local);
    }
}

// ---- this child's own jobs ----

void ChildLink::submit_done(JobId id, LocalId local) {
    submitting_ -= submitting_ > 0 ? 1 : 0;
    if (const auto found = jobs_.find(id); found != jobs_.end()) {
        found->second.is_submitting = false;
    }
    take_local(id, local);
}

void ChildLink::take_local(JobId id, LocalId local) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || (found->second.local.value != 0 && found->second.local != local)) {
        if (by_local_.count(local) == 0) {
            disown(local);
        }
        return;
    }
    Job& job = found->second;
    const bool is_news = std::exchange(job.local, local).value == 0;
    by_local_.insert_or_assign(local, id);
    copies_.add(id, local);
    if (is_news && job.is_cancel_asked) {
        raise(local, job.cancel_type, job.cancel_note);
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
        record(id, found->second, ChildEvent::Kind::returned);
    } else {
        ChildEvent failed;
        failed.kind = ChildEvent::Kind::exception;
        failed.type = "route";
        failed.note = "the child instance did not take it: " + why;
        record(id, found->second, std::move(failed));
    }
    found->second.has_ended = true;
    record(id, found->second, ChildEvent::Kind::cleaned);
}

void ChildLink::failed(const LocalOp& op) {
    failed_.insert_or_assign({op.job, op.kind}, op);
}

bool ChildLink::is_needed(const LocalOp& op) const {
    if (op.kind == LocalOp::Kind::go) {
        return held_.count(op.job) > 0;
    }
    const auto id = by_local_.find(op.job);
    if (id == by_local_.end()) {
        return disowned_.count(op.job) > 0;
    }
    const Job& job = jobs_.at(id->second);
    if (op.kind == LocalOp::Kind::urgency) {
        return !job.has_ended && !job.is_allocated && job.urgency == op.urgency;
    }
    return !job.has_ended && !job.is_returned && !has(job, ChildEvent::Kind::exception);
}

void ChildLink::repeat() {
    for (auto& [which, op] : std::exchange(failed_, {})) {
        if (is_needed(op)) {
            actions_.ops.push_back(std::move(op));
        }
    }
}

void ChildLink::submitted(LocalId local, const JournalEvent& event, const JobFacts& facts) {
    const JobId id{facts.upstream};
    auto known = jobs_.find(id);
    if (known != jobs_.end() && known->second.local.value != 0 && known->second.local != local) {
        if (!known->second.is_returned) {
            disown(local);
            return;
        }
        by_local_.erase(known->second.local);
        jobs_.erase(known);
        known = jobs_.end();
    }
    if (known == jobs_.end()) {
        Job& job = jobs_[id];
        job.urgency = job.local_urgency = event.urgency;
    }
    take_local(id, local);
}

void ChildLink::on_exception(JobId id, Job& job, const JournalEvent& event) {
    if (event.severity != 0 || job.is_returned || has(job, ChildEvent::Kind::finished)) {
        return;
    }
    if (event.type == "cancel" && !job.is_cancel_asked && !has(job, ChildEvent::Kind::started)) {
        // It did not start and the parent did not ask for it: an instance that shuts down cancels all its jobs. The
        // parent decides whether another child may get the job: it knows whether the job was released.
        job.is_returned = true;
        record(id, job, ChildEvent::Kind::returned);
        return;
    }
    ChildEvent failed;
    failed.kind = ChildEvent::Kind::exception;
    failed.local = job.local;
    failed.type = event.type;
    failed.severity = event.severity;
    failed.note = event.note;
    record(id, job, std::move(failed));
}

void ChildLink::on_clean(JobId id, Job& job) {
    if (is_refused(job)) {  // its submission's answer says why
        by_local_.erase(job.local);
        job.local = {};
        return;
    }
    job.has_ended = true;
    if (job.priority) {
        actions_.priorities.push_back({id, std::nullopt});
    }
    record(id, job, ChildEvent::Kind::cleaned);
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
    return job.is_submitting && !job.is_allocated && !job.is_returned && !has(job, ChildEvent::Kind::exception);
}

void ChildLink::event(LocalId local, const JournalEvent& event) {
    using Kind = JournalEvent::Kind;
    follow_prolog(local, event);
    if (event.kind == Kind::clean && disowned_.erase(local) > 0) {
        return;
    }
    const auto id = by_local_.find(local);
    if (id == by_local_.end()) {
        return;
    }
    Job& job = jobs_.at(id->second);
    if (is_there(job, event)) {
        record(id->second, job, ChildEvent::Kind::accepted);
    }
    ChildEvent told;
    told.local = local;
    switch (event.kind) {
        case Kind::urgency:
            job.local_urgency = event.urgency;
            break;
        case Kind::priority:
            hold_back(id->second, job, event.priority == 0 && job.local_urgency != 0);
            break;
        case Kind::alloc:
            hold_back(id->second, job, false);
            job.is_allocated = true;
            told.kind = ChildEvent::Kind::allocated;
            told.R = event.R;
            record(id->second, job, std::move(told));
            break;
        case Kind::start:
            job.has_go = true;
            record(id->second, job, ChildEvent::Kind::started);
            break;
        case Kind::prolog_finish:
            job.has_go = job.has_go || event.type == go_prolog;
            break;
        case Kind::finish:
            told.kind = ChildEvent::Kind::finished;
            told.status = event.status;
            record(id->second, job, std::move(told));
            break;
        case Kind::exception:
            on_exception(id->second, job, event);
            break;
        case Kind::memo_uri:
            told.kind = ChildEvent::Kind::published;
            told.note = event.note;
            record(id->second, job, std::move(told));
            break;
        case Kind::clean:
            on_clean(id->second, job);
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
