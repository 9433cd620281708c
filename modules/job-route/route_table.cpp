// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's reactions to the parent's own journal, and the choice of a child. Reports: route_report.cpp;
// children that end: route_children.cpp.
#include "modules/job-route/route_table.hpp"

#include <algorithm>

namespace weir::route {
namespace {

constexpr const char* child_lost = "child-lost";

}  // namespace

// ---- choosing a child ----

RouteTable::Child* RouteTable::attached_child(JobId id) {
    const auto found = children_.find(id);
    return found != children_.end() && found->second.is_attached ? &found->second : nullptr;
}

/// The child that has the job, if it is attached.
RouteTable::Child* RouteTable::attached_child(const Entry& entry) {
    const Given* given = entry.second.given();
    return given != nullptr ? attached_child(given->child) : nullptr;
}

/// Of an owner's child any user's job, where it runs jobs as him; otherwise its own user's alone.
bool RouteTable::is_allowed(const Child& child, const Job& job) const {
    return child.userid == job.userid || (child.is_trusted && runs_as_owner_);
}

/// Of a child that takes jobs of its class.
bool RouteTable::may_have(const Child& child, const Entry& entry) const {
    const auto& [id, job] = entry;
    return is_allowed(child, job) && child.refused.count(id) == 0 && child.stale.count(id) == 0;
}

void RouteTable::assign(Entry& entry, JobId child) {
    auto& [id, job] = entry;
    job.routed()->holder = GiveAsked{child};
    children_.at(child).given.insert(id);
    TapOp& op = ask(TapOp::Kind::give, entry);
    op.child = child;
    op.queue = job.facts.queue;
    refile(entry);
}

/// The job returns to the queue here; nothing of it ran.
void RouteTable::take_back(Entry& entry) {
    auto& [id, job] = entry;
    const JobId holder = job.holder();
    const auto child = children_.find(holder);
    if (child != children_.end()) {
        child->second.given.erase(id);
        leave_first(holder, id);
    }
    if (job.routed() != nullptr) {
        job.routed()->holder = Unplaced{};
        actions_.moved.push_back(id);
    }
    refile(entry);
}

/// REQUIRES: its allocation is neither on record nor on its way there.
void RouteTable::recall(Entry& entry) {
    const Given given = *entry.second.given();
    if (Child* child = attached_child(entry); child != nullptr && given.is_sent) {
        disown(given.child, *child, entry.first, false);
    }  // else attach() finds the unwanted copy
    take_back(entry);
}

void RouteTable::leave_first(JobId child, JobId id) {
    const auto found = children_.find(child);
    if (found != children_.end() && found->second.first.erase(id) > 0) {
        report_if_complete(child, found->second);
    }
}

void RouteTable::report_if_complete(JobId id, Child& child) {
    if (child.is_attached && child.first.empty() && !std::exchange(child.is_complete, true)) {
        Order complete;
        complete.kind = Order::Kind::complete;
        actions_.orders.emplace_back(id, std::move(complete));
    }
}

/// The job was, or may have been, started in a child that can report no more about it.
void RouteTable::lose(Entry& entry, const std::string& why) {
    AskedOnce& asked = entry.second.routed()->asked;
    if (is_in_run(entry.second.progress) && !asked.has(AskedOnce::Step::finish) &&
        asked.add_new(AskedOnce::Step::failure)) {
        TapOp& op = ask(TapOp::Kind::exception, entry);
        op.type = child_lost;
        op.note = why;
    }
    if (asked.add_new(AskedOnce::Step::clean)) {
        ask(TapOp::Kind::clean, entry);
    }
    take_back(entry);
}

// ---- orders to a child ----

TapOp& RouteTable::ask(TapOp::Kind kind, const Entry& entry) {
    TapOp op;
    op.kind = kind;
    op.id = entry.first;
    actions_.tap.push_back(std::move(op));
    return actions_.tap.back();
}

/// To the child that has the job, if it is attached; otherwise settle() sends the order when it attaches.
void RouteTable::order(const Entry& entry, Order order) {
    if (is_synced_ && attached_child(entry) != nullptr) {
        order.id = entry.first;
        actions_.orders.emplace_back(entry.second.given()->child, std::move(order));
    }
}

void RouteTable::order_go(const Entry& entry) {
    if (is_in_run(entry.second.progress) && entry.second.may_go) {
        Order go;
        go.kind = Order::Kind::go;
        order(entry, std::move(go));
    }
}

void RouteTable::signal(JobId id, int signum) {
    const auto entry = jobs_.find(id);
    const Child* child = entry != jobs_.end() ? attached_child(*entry) : nullptr;
    if (child != nullptr && child->takes_signals && has_alloc(entry->second.progress)) {
        Order signal;
        signal.kind = Order::Kind::signal;
        signal.signum = signum;
        order(*entry, std::move(signal));
    }
}

/// This instance's scheduler runs the job here.
void RouteTable::hold(const Entry& entry, Own& own) {
    if (entry.second.facts.upstream == 0 && entry.second.facts.serves.empty()) {
        own_cores_ += entry.second.facts.cores - std::exchange(own.cores, entry.second.facts.cores);
    }
}

/// Of a job whose copy is pending.
void RouteTable::order_priority(const Entry& entry) {
    Order change;
    change.kind = Order::Kind::priority;
    change.priority = entry.second.priority;
    order(entry, std::move(change));
}

void RouteTable::fetch(Entry& entry) {
    if (is_synced_ && attached_child(entry) != nullptr && !entry.second.routed()->is_fetching) {
        entry.second.routed()->is_fetching = true;
        actions_.fetch.push_back(entry.first);
    }
}

void RouteTable::jobspec_ready(JobId id, std::string jobspec) {
    const auto entry = jobs_.find(id);
    if (entry == jobs_.end() || entry->second.routed() == nullptr) {
        return;
    }
    Job& job = entry->second;
    job.routed()->is_fetching = false;
    if (attached_child(*entry) == nullptr || job.given()->is_sent || has_alloc(job.progress) ||
        is_ending(job.progress)) {
        leave_first(job.holder(), id);
        return;
    }
    Order submit;
    submit.jobspec = std::move(jobspec);
    submit.urgency = job.urgency;
    submit.priority = job.priority;
    submit.submit = job.submit;
    submit.userid = user_of(job);
    const bool is_from_above = job.facts.upstream != 0 && has_parent_;
    submit.queue = is_from_above ? job.facts.upstream_queue : job.facts.queue;
    submit.output = is_from_above ? job.facts.upstream_output : "";
    order(*entry, std::move(submit));
    job.given()->is_sent = true;
    leave_first(job.holder(), id);
}

void RouteTable::fetch_failed(JobId id, const std::string& why) {
    const auto entry = jobs_.find(id);
    if (entry == jobs_.end() || entry->second.routed() == nullptr || is_ending(entry->second.progress)) {
        return;
    }
    entry->second.routed()->is_fetching = false;
    TapOp& op = ask(TapOp::Kind::exception, *entry);
    op.type = "route";
    op.note = "its jobspec cannot be read: " + why;
    leave_first(entry->second.holder(), id);
    entry->second.routed()->asked.add(AskedOnce::Step::failure);
}

void RouteTable::tap_failed(JobId id, TapOp::Kind kind) {
    const auto entry = jobs_.find(id);
    if (kind == TapOp::Kind::give && entry != jobs_.end() && entry->second.given() == nullptr) {
        take_back(*entry);
        hand_down_.set(id, entry->second.filed, {});  // the journal is about to report its exception
    }
}

void RouteTable::allow_go(JobId id) {
    const auto entry = jobs_.find(id);
    if (entry != jobs_.end()) {
        entry->second.may_go = true;
        order_go(*entry);
    }
}

// ---- the journal ----

void RouteTable::submitted(JobId id, const JournalEvent& event, const JobFacts& facts) {
    Job job;
    job.userid = event.userid;
    job.urgency = event.urgency;
    job.facts = facts;
    job.submit = has_parent_ && facts.upstream != 0 ? facts.upstream_submit.value_or(event.at) : event.at;
    job.may_go = !has_parent_ || facts.upstream == 0;
    const auto [entry, is_new] = jobs_.try_emplace(id);
    own_jobs_ += facts.upstream == 0 && facts.serves.empty() && is_new ? 1 : 0;
    if (!facts.serves.empty()) {
        hosts_.insert(id);
        hand_down_.rules_changed();
    }
    set_kind(job);
    job.filed = entry->second.filed;
    entry->second = std::move(job);
}

void RouteTable::event(JobId id, const JournalEvent& event) {
    using Kind = JournalEvent::Kind;
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) {
        return;
    }
    Entry& entry = *found;
    Job& job = entry.second;
    switch (event.kind) {
        case Kind::bypass:
            on_bypass(entry);
            break;
        case Kind::priority:
            on_priority(entry, event.priority);
            break;
        case Kind::urgency:
            on_urgency(entry, event.urgency);
            break;
        case Kind::update:
            on_update(entry, event);
            break;
        case Kind::restart:
            if (job.progress == Progress::sched) {
                job.progress = Progress::entering;
            }
            break;
        case Kind::route:
            on_route(entry, JobId{event.child});
            break;
        case Kind::alloc:
            on_alloc(entry, event);
            break;
        case Kind::start:
            job.progress = after_start(job.progress);
            return;  // it stands where it did
        case Kind::finish:
            on_finish(entry);
            break;
        case Kind::exception:
            on_exception(entry, event);
            break;
        case Kind::clean:
            on_clean(found);
            return;
        case Kind::memo_uri:
            job.uri = event.note;
            break;
        case Kind::prolog_finish:
            if (job.routed() != nullptr && event.type == mirror_prolog) {
                job.routed()->asked.add(AskedOnce::Step::clean);
            }
            break;
        case Kind::submit:
        case Kind::prolog_start:
            break;
    }
    refile(entry);
}

/// The plugin keeps it from this instance's scheduler.
void RouteTable::on_bypass(Entry& entry) {
    auto& [id, job] = entry;
    const JobFacts& facts = job.facts;
    if (job.routed() == nullptr && !facts.has_own_R && !facts.queue.empty() && facts.serves.empty()) {
        job.role = Routed{};
        running_here_.erase({job.userid, id});
    }
}

/// A copy has the jobspec of the time when it was made: one that has not started is recalled, and goes down anew.
void RouteTable::on_update(Entry& entry, const JournalEvent& event) {
    Job& job = entry.second;
    JobFacts& facts = job.facts;
    const auto is_new = [](const auto& value, const auto& former) { return value && *value != former; };
    if (Given* given = job.given(); given != nullptr) {
        // In the backlog a job's facts are those after all updates.
        given->is_outdated = given->is_outdated || !is_synced_ || event.has_project ||
                             is_new(event.queue, facts.queue) || is_new(event.duration, facts.duration) ||
                             is_new(event.account, facts.account);
    }
    job.updates += 1;
    facts.queue = event.queue.value_or(facts.queue);
    facts.duration = event.duration.value_or(facts.duration);
    facts.account = event.account.value_or(facts.account);
    unfit_.erase(entry.first);  // another request
    set_kind(job);
    recall_outdated(entry);
}

void RouteTable::recall_outdated(Entry& entry) {
    const Job& job = entry.second;
    const Given* given = job.given();
    const bool is_pending = !has_alloc(job.progress) && !is_ending(job.progress);
    if (is_synced_ && is_pending && given != nullptr && given->is_outdated && !given->is_alloc_asked) {
        recall(entry);
    }
}

/// Priority 0 without urgency 0: a limit of this instance holds the job back. If its allocation is on its way to the
/// record, the plugin decides: it posts either alloc or that no child has the job.
void RouteTable::on_priority(Entry& entry, std::int64_t priority) {
    Job& job = entry.second;
    const bool is_new = std::exchange(job.priority, priority) != priority;
    if (job.progress == Progress::entering) {
        job.progress = Progress::sched;
    }
    const Given* given = job.given();
    if (given == nullptr) {
        return;
    }
    if (job.is_held_back() && !given->is_alloc_asked) {
        recall(entry);
    } else if (is_new && given->is_sent && !job.is_held_back()) {
        order_priority(entry);
    }
}

void RouteTable::on_urgency(Entry& entry, int urgency) {
    Job& job = entry.second;
    if (job.progress == Progress::sched) {
        job.progress = Progress::entering;
    }
    if (std::exchange(job.urgency, urgency) != urgency && job.given() != nullptr && job.given()->is_sent) {
        Order change;
        change.kind = Order::Kind::urgency;
        change.urgency = urgency;
        order(entry, std::move(change));
    }
}

void RouteTable::on_route(Entry& entry, JobId child) {
    Job& job = entry.second;
    if (job.routed() == nullptr) {  // only the plugin writes this event, and only for jobs that it routes
        return;
    }
    if (child.value == 0) {  // a limit holds it back
        if (job.given() != nullptr) {
            recall(entry);
        }
        return;
    }
    if (job.holder() != child) {
        take_back(entry);
    }
    if (is_synced_ && children_.find(child) == children_.end()) {  // it ended in the meantime
        take_back(entry);
        return;
    }
    job.routed()->holder = Given{child};
    actions_.moved.push_back(entry.first);
    children_[child].given.insert(entry.first);
    // Since the plugin was asked:
    if (job.is_held_back() || (is_synced_ && (drained_.count(child) > 0 || is_stopped(job)))) {
        recall(entry);
    } else {
        fetch(entry);
    }
}

void RouteTable::on_alloc(Entry& entry, const JournalEvent& event) {
    Job& job = entry.second;
    job.progress = Progress::allocated;
    job.cores = event.cores;
    if (Own* own = std::get_if<Own>(&job.role)) {
        own->R = event.R;
        hold(entry, *own);
        return;
    }
    if (event.child == 0) {  // this instance's own scheduler was faster than the plugin: the job runs here
        Order cancel;
        cancel.kind = Order::Kind::cancel;
        cancel.type = "cancel";
        cancel.note = "it runs in the parent";
        order(entry, std::move(cancel));
        take_back(entry);
        hold(entry, job.role.emplace<Own>(Own{event.R}));
        return;
    }
    if (!is_synced_) {
        if (const JobId child{event.child}; !job.is_with(child)) {  // the job left SCHED after it was routed there
            take_back(entry);
            job.routed()->holder = Given{child};
            actions_.moved.push_back(entry.first);
            children_[child].given.insert(entry.first);
        }
    } else if (!job.is_with(JobId{event.child})) {
        lose(entry, "the child instance that was to run it ended");
    } else if (attached_child(entry) != nullptr && !job.given()->is_sent) {
        lose(entry, "its child instance gave it up before the allocation was on record");
    } else {
        order_go(entry);
    }
}

void RouteTable::on_finish(Entry& entry) {
    entry.second.progress = Progress::finished;
    if (entry.second.routed() == nullptr) {
        child_ended(entry.first);
    }
}

void RouteTable::on_exception(Entry& entry, const JournalEvent& event) {
    Job& job = entry.second;
    if (event.severity != 0 || is_ending(job.progress)) {
        return;
    }
    job.progress = after_failure(job.progress);
    if (job.routed() != nullptr && !job.routed()->asked.has(AskedOnce::Step::failure)) {
        Order cancel;
        cancel.kind = Order::Kind::cancel;
        cancel.type = event.type;
        cancel.note = event.note;
        order(entry, std::move(cancel));
    }
}

void RouteTable::on_clean(Jobs::iterator entry) {
    const JobId id = entry->first;
    const bool is_routed = entry->second.routed() != nullptr;
    const auto child = children_.find(entry->second.holder());
    if (child != children_.end() && child->second.given.erase(id) > 0 && has_alloc(entry->second.progress)) {
        child->second.done += 1;
    }
    leave_first(entry->second.holder(), id);
    copies_.ended(id);
    unfit_.erase(id);
    if (!entry->second.facts.serves.empty() && hosts_.erase(id) > 0) {
        hand_down_.rules_changed();
    }
    hand_down_.set(id, entry->second.filed, {});
    if (const Own* own = std::get_if<Own>(&entry->second.role)) {
        own_cores_ -= own->cores;
        running_here_.erase({entry->second.userid, id});
    }
    own_jobs_ -= entry->second.facts.upstream == 0 && entry->second.facts.serves.empty() ? 1 : 0;
    jobs_.erase(entry);
    if (is_routed) {
        actions_.moved.push_back(id);
    } else {
        child_ended(id);
    }
}

void RouteTable::synced() {
    is_synced_ = true;
    std::vector<JobId> gone;
    for (const auto& [id, child] : children_) {
        const auto host = jobs_.find(id);
        if (host == jobs_.end() || host->second.progress == Progress::finished) {
            gone.push_back(id);
        }
    }
    for (const JobId child : gone) {
        child_ended(child);
    }
    for (Entry& entry : jobs_) {
        recall_outdated(entry);
        refile(entry);
    }
}

}  // namespace weir::route
