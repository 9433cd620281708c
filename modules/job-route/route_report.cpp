// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteTable's part in the reports of children, and the views for people.
#include <algorithm>

#include "libfairshare/base/escaped_text.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route {
namespace {

// In bytes; a child may be a guest's.
constexpr std::size_t uri_max = 1024;
constexpr std::size_t type_max = 64;
constexpr std::size_t note_max = 1024;
constexpr const char* no_session = "this session is over: attach again";

/// RFC 21: a type is one word. These two go into the eventlog of a job as the owner's words.
std::string type_of(const ChildEvent& event) {
    std::string type = escaped(event.type, type_max);
    std::replace_if(
        type.begin(), type.end(), [](char c) { return c == ' ' || c == '='; }, '_');
    return type;
}
std::string note_of(const ChildEvent& event) {
    return escaped(event.note, note_max);
}

/// What a child says of a job that it will not start: its scheduler has no place for it (alloc), a limit of its own
/// share tree refuses it (limit), or its submission was refused there or further down (route).
bool is_refusal(const std::string& type) {
    return type == "alloc" || type == "limit" || type == "route";
}

}  // namespace

// ---- reports ----

Status RouteTable::may_have_session(const Caller& caller) const {
    const bool has_one = std::any_of(children_.begin(), children_.end(), [&caller](const auto& entry) {
        return entry.second.is_attached && entry.second.userid == caller.userid;
    });
    return has_one ? Status(Done{}) : Status(Error{std::errc::owner_dead, no_session});
}

Status RouteTable::may_report(const ReportHead& head, const Caller& caller) const {
    const auto found = children_.find(head.child);
    if (found == children_.end() || !found->second.is_attached || found->second.session != head.session ||
        found->second.userid != caller.userid) {
        return Error{std::errc::owner_dead, no_session};
    }
    if (!caller.is_owner && head.events > report_events_max) {
        return Error{std::errc::invalid_argument, "a report has at most " + std::to_string(report_events_max) +
                                                      " events, not " + std::to_string(head.events)};
    }
    return Done{};
}

Result<std::uint64_t> RouteTable::report(const Report& report, const MapR& map_R) {
    Child* child = attached_child(report.child);
    if (child == nullptr || child->session != report.session) {
        return Error{std::errc::owner_dead, no_session};
    }
    child->silent_ticks = 0;
    child->own_jobs = report.own_jobs;
    if (std::exchange(child->own_cores, report.own_cores) != report.own_cores) {
        refile_child(report.child, *child);
    }
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
            apply(*child, *entry, event, map_R);
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
void RouteTable::apply(Child& child, Entry& entry, const ChildEvent& event, const MapR& map_R) {
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
            on_allocated(entry, event, map_R);
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
            on_cleaned(child, entry, event);
            break;
        case Kind::held_back:
        case Kind::admitted:
            job.given()->is_held_back = event.kind == Kind::held_back;
            refile(entry);
            break;
        case Kind::published:
            // Each one is a memo for ever: a guest's child gets one a job.
            if (is_in_run(job.progress) && job.uri != event.note && event.note.size() <= uri_max &&
                (child.is_trusted || job.uri.empty())) {
                job.uri = event.note;
                actions_.uris.emplace_back(entry.first, event.note);
            }
            break;
    }
}

/// Whether an allocation is news.
bool RouteTable::is_open_to_alloc(const Job& job) {
    const Given* given = job.given();
    return given != nullptr && !has_alloc(job.progress) && !is_ending(job.progress) && !given->is_alloc_asked;
}

/// The child has not started it. All allocations that come together are judged together by the next take(): what they
/// decide is one plan, so that children that start thousands of jobs at once cost one.
void RouteTable::on_allocated(Entry& entry, const ChildEvent& event, const MapR& map_R) {
    const Job& job = entry.second;
    if (has_alloc(job.progress)) {
        order_go(entry);
        return;
    }
    const auto held = held_allocations_.find(entry.first);
    const bool is_known = held != held_allocations_.end() && held->second.local == job.given()->local;
    if (!is_open_to_alloc(job) || is_known) {
        return;
    }
    auto R = map_R ? map_R(event.R) : Result<std::string>(event.R);
    if (!R) {
        refuse_alloc(entry, R.error().message);
        return;
    }
    const Given& given = *job.given();
    held_allocations_.insert_or_assign(entry.first, HeldAllocation{given.child, given.local, std::move(R).value()});
    hand_down_.recheck();
}

void RouteTable::accept_alloc(Entry& entry, std::string R) {
    Given& given = *entry.second.given();
    given.is_alloc_asked = true;
    given.may_have_alloc = true;
    TapOp& op = ask(TapOp::Kind::alloc, entry);
    op.child = given.child;
    op.queue = entry.second.facts.queue;
    op.local = given.local;
    op.R = std::move(R);
    refile(entry);
}

/// A guest's child may report an allocation again and again: it gets the job after a pause.
void RouteTable::decline_alloc(Entry& entry, const HandDown::Objection* objection) {
    if (objection != nullptr) {
        hand_down_.set_considered(objection->better);
    }
    if (Child& child = children_.at(entry.second.given()->child); !child.is_trusted) {
        child.refused.insert_or_assign(entry.first, 0);
    }
    recall(entry);
}

/// A copy that was recalled meanwhile, or ended, has no allocation any more.
void RouteTable::drop_ended_allocations() {
    std::erase_if(held_allocations_, [this](const auto& held) {
        const auto entry = jobs_.find(held.first);
        return entry == jobs_.end() || attached_child(held.second.child) == nullptr ||
               !entry->second.is_with(held.second.child) || entry->second.given()->local != held.second.local ||
               !is_open_to_alloc(entry->second);
    });
}

/// The child's scheduler chose among the jobs that are there. If a job of a higher priority is on its way there, the
/// one that it chose keeps the cores without starting until that one is there, or goes elsewhere. If a limit does not
/// allow the job any more, or its user holds it, it is recalled, and its cores become free.
void RouteTable::settle_held_allocations() {
    drop_ended_allocations();
    std::vector<JobId> ids;
    for (const auto& [id, held] : held_allocations_) {
        ids.push_back(id);
    }
    using Objection = HandDown::Objection;
    const std::map<JobId, Objection> objections = hand_down_.objections(ids, rules());
    for (const JobId id : ids) {
        const auto found = objections.find(id);
        const Objection* objection = found != objections.end() ? &found->second : nullptr;
        Entry& entry = *jobs_.find(id);
        const bool is_held = entry.second.urgency == 0 && !entry.second.given()->may_have_alloc;
        if (!is_held && objection != nullptr && objection->kind == Objection::Kind::coming) {
            continue;
        }
        std::string R = std::move(held_allocations_.at(id).R);
        held_allocations_.erase(id);
        if (is_held || objection != nullptr) {
            decline_alloc(entry, objection);
        } else {
            accept_alloc(entry, std::move(R));
        }
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

/// A job that a child refuses is no more lost than one that it returned, as long as another may run it.
void RouteTable::on_failed(Child& child, Entry& entry, const ChildEvent& event) {
    Job& job = entry.second;
    AskedOnce& asked = job.routed()->asked;
    if (event.severity != 0 || is_ending(job.progress) || asked.has(AskedOnce::Step::finish) ||
        asked.has(AskedOnce::Step::failure)) {
        return;
    }
    std::string note = note_of(event);
    const bool is_unfit = is_refusal(event.type) && child.is_trusted && !has_alloc(job.progress) &&
                          !job.given()->is_alloc_asked && !job.given()->may_have_alloc;
    if (is_unfit) {
        if (try_others(child, entry, note)) {
            return;
        }
        note = why_unfit(entry);
    }
    asked.add(AskedOnce::Step::failure);
    TapOp& op = ask(TapOp::Kind::exception, entry);
    op.type = type_of(event);
    op.note = note;
}

/// A copy that ended without a reason and without resources was never there: a plugin of the child refused it. The end
/// of an earlier copy, which the child returned, says nothing.
void RouteTable::on_cleaned(Child& child, Entry& entry, const ChildEvent& event) {
    Job& job = entry.second;
    AskedOnce& asked = job.routed()->asked;
    if (has_alloc(job.progress) || job.given()->is_alloc_asked) {
        if (asked.add_new(AskedOnce::Step::clean)) {
            ask(TapOp::Kind::clean, entry);
            refile(entry);
        }
    } else if (!is_ending(job.progress) && !asked.has(AskedOnce::Step::failure) && event.local.value != 0 &&
               event.local == job.given()->local) {
        on_returned(child, entry);
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

std::vector<ChildView> RouteTable::servers_of(JobId id) const {
    std::vector<ChildView> views;
    const auto job = jobs_.find(id);
    for (const auto& [child_id, child] : children_) {
        if (job != jobs_.end() && is_allowed(child, job->second) &&
            std::find(child.serves.begin(), child.serves.end(), job->second.facts.queue) != child.serves.end()) {
            views.push_back(*child_without_counts(child_id));
        }
    }
    return views;
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
    std::sort(ids.begin(), ids.end());
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
