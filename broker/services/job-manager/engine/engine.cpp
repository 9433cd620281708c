// SPDX-License-Identifier: LGPL-3.0-only
// Owns: posting events and acting on states.
// Must not know: payloads of requests. RFC 21.
// One event at a time per job: an event posted while the job is being processed waits its turn, so that every plugin
// and listener sees the events of a job in the order of the eventlog.
#include "broker/services/job-manager/engine/engine.hpp"

#include <syslog.h>

#include <cmath>

#include "broker/api/clock.hpp"
#include "broker/api/message.hpp"
#include "broker/services/job-manager/dependencies/dependencies.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"
#include "broker/services/job-manager/protocols/alloc.hpp"
#include "broker/services/job-manager/protocols/exec.hpp"
#include "broker/services/job-manager/requests/admin.hpp"
#include "broker/services/job-manager/requests/event_streams.hpp"
#include "broker/services/job-manager/requests/job_info.hpp"
#include "broker/services/job-manager/requests/job_list.hpp"
#include "broker/services/job-manager/requests/waits.hpp"
#include "broker/services/job-manager/state/transition.hpp"

namespace weir::broker::jobs {
namespace {

/// With more active jobs than this, waiting ones keep their jobspec as text only (a tree is ten times its text).
constexpr std::size_t trees_max = 100;
/// Real seconds between attempts to write a journal that could not be written.
constexpr double journal_retry_s = 1;

}  // namespace

std::string f58(JobId id) {
    char buffer[64];
    return flux_job_id_encode(id, "f58", buffer, sizeof buffer) < 0 ? std::to_string(id) : buffer;
}

std::int64_t Engine::now_us() const {
    return std::llround(flux_reactor_time() * 1e6);
}

/// As in Flux, the role `admin` sees what the owner sees.
bool Engine::is_restricted(const flux_msg_t* request) const {
    flux_msg_cred cred{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
    return is_private_ &&
           (flux_msg_get_cred(request, &cred) < 0 || (cred.rolemask & (FLUX_ROLE_OWNER | FLUX_ROLE_ADMIN)) == 0);
}

bool Engine::is_hidden(const Job& job, const flux_msg_t* request) const {
    return is_restricted(request) && flux_msg_authorize(request, job.userid) < 0;
}

std::int64_t Engine::next_time_us() {
    last_us_ = std::max(standing_us_.value_or(now_us()), last_us_ + 1);
    return last_us_;
}

Status Engine::post(Job& job, std::string name, Json context, bool is_volatile) {
    return post_at(job, Event{next_time_us(), std::move(name), std::move(context)}, is_volatile);
}

Status Engine::post_at(Job& job, Event event, bool is_volatile) {
    job.posted.push_back({std::move(event), is_volatile});
    if (job.posted.size() > 1) {
        return Done{};
    }
    Status result = Done{};
    // Processing may post more events to this job; they land behind the front one.
    for (std::size_t i = 0; i < job.posted.size(); ++i) {
        if (job.is_readonly || job.state == State::inactive) {
            break;
        }
        const Job::Posted posted{job.posted[i].event.share(), job.posted[i].is_volatile};
        const Status done = process(job, posted.event, posted.is_volatile);
        if (!done) {
            flux_log(h_, LOG_ERR, "%s: %s", f58(job.id).c_str(), done.error().message.c_str());
        }
        if (!done && i == 0) {
            result = done;
        }
    }
    std::vector<Job::Posted>().swap(job.posted);  // releases the memory: most of the time no event is posted
    return result;
}

Status Engine::process(Job& job, const Event& event, bool is_volatile) {
    const State before = job.state;
    const std::string old_queue = event.name == "jobspec-update" ? job.facts.queue : "";
    if (auto done = transition(job, event); !done) {
        return done;
    }
    const std::string line = encode(event);
    if (!is_volatile) {
        job.eventlog += line;
        job.eventlog += '\n';
    }
    if (event.name == "jobspec-update") {
        jobs_.recount_queue(job, old_queue, before);
    }
    jobs_.count(job, before);
    if (event.name == "set-flags" && job.alloc_bypass) {  // a plugin set it after the job had been queued
        alloc_->dequeue(job);
        alloc_->cancel(job, true);
    }
    if (store_ && (!is_volatile || event.name == "invalidate")) {
        store_->append(job, line);
    }
    streams_->on_event(job, event.name, line);
    if (!is_volatile) {
        info_->on_event(job, event.name, line);
    }
    jobtap_->on_event(job, event, before);
    if (event.name == "start") {
        dependencies_->on_start(job);
    }
    if (job.state != before) {
        list_->on_state(job);
    }
    act(job);
    return Done{};
}

void Engine::mark_launch(Job& job) {
    if (!job.was_launched && !job.facts.is_simulated) {
        mark(job, launch_mark);
    }
}

void Engine::mark_launch_refused(Job& job) {
    if (job.was_launched && !job.was_started) {
        mark(job, launch_refused_mark);
    }
}

void Engine::mark(Job& job, const char* name) {
    const Event event{next_time_us(), name, {}};
    (void)transition(job, event);
    if (store_) {
        store_->append(job, encode(event));
    }
}

void Engine::act(Job& job) {
    switch (job.state) {
        case State::created:
            break;
        case State::depend:
            if (job.dependencies->empty() && !job.is_queued_event("dependency-add") && !job.depend_posted) {
                job.depend_posted = true;
                (void)post(job, "depend");
            }
            break;
        case State::priority:
            alloc_->cancel(job, false);
            alloc_->dequeue(job);
            if (jobs_.active_count() > trees_max) {
                job.jobspec = Json();  // read again from the text if a plugin asks
            }
            break;
        case State::sched:
            alloc_->enqueue(job);
            job.eventlog.shrink_to_fit();
            break;
        case State::run:
            if (job.perilog_active == 0 && !job.is_queued_event("prolog-start")) {
                exec_->start(job);
            }
            break;
        case State::cleanup:
            act_in_cleanup(job);
            break;
        case State::inactive:
            act_inactive(job);
            break;
    }
}

void Engine::act_in_cleanup(Job& job) {
    alloc_->cancel(job, true);
    alloc_->dequeue(job);
    const bool is_quiet = job.perilog_active == 0 && !job.is_queued_event("epilog-start") && !job.start_pending;
    if (!is_quiet) {
        return;
    }
    if (job.has_resources && !job.free_posted) {
        job.free_posted = true;
        if (!job.alloc_bypass) {
            alloc_->free(job);
        }
        (void)post(job, "free");
    } else if (!job.has_resources && !job.clean_posted) {
        job.clean_posted = true;
        (void)post(job, "clean");
    }
}

void Engine::act_inactive(Job& job) {
    if (!jobs_.active(job.id)) {
        return;
    }
    waits_->on_inactive(job);
    jobtap_->on_inactive(job);
    dependencies_->on_inactive(job);
    jobs_.retire(job);
    admin_->on_inactive();
}

Status Engine::raise(Job& job, const Exception& exception) {
    Json context = Json::object();
    Json event = Json::object();
    event.set("id", static_cast<json_int_t>(job.id));
    for (Json* object : {&context, &event}) {
        object->set("type", exception.type);
        object->set("severity", exception.severity);
    }
    context.set("note", exception.note);
    if (exception.userid != FLUX_USERID_UNKNOWN) {
        context.set("userid", exception.userid);
    }
    if (exception.wait_status >= 0) {
        context.set("wait_status", exception.wait_status);
        event.set("wait_status", exception.wait_status);
    }
    if (auto done = post(job, "exception", std::move(context)); !done) {
        return done;
    }
    outbox().publish("job-exception", std::move(event));
    return Done{};
}

void Engine::annotate(Job& job, const json_t* update) {
    Json merged = job.annotations.share();
    merge_annotations(merged, update);
    Json context = Json::object();
    context.set("annotations", merged ? std::move(merged) : Json::own(json_null()));
    (void)post(job, "annotations", std::move(context), true);
}

void Engine::clear_annotations(Job& job, const char* key) {
    if (!job.annotations) {
        return;
    }
    Json left = key ? job.annotations.deep_copy() : Json::object();
    if (key) {
        json_object_del(left.get(), key);
    }
    Json context = Json::object();
    context.set("annotations", json_object_size(left.get()) > 0 ? std::move(left) : Json::own(json_null()));
    (void)post(job, "annotations", std::move(context), true);
}

Status Engine::reprioritize(Job& job, std::int64_t priority, bool one_shot) {
    if (!is_in(job.state, bit(State::priority) | bit(State::sched))) {
        return Done{};  // Flux's convention: nothing to do, no error
    }
    if (job.urgency == urgency_hold) {
        priority = priority_min;
    } else if (job.urgency == urgency_expedite) {
        priority = priority_max;
    }
    if (priority == job.priority && job.state == State::sched) {
        return Done{};
    }
    Json context = Json::object();
    context.set("priority", priority);
    if (auto done = post(job, "priority", std::move(context)); !done) {
        return done;
    }
    // The event may still be queued, but the queues must have the new value now.
    job.priority = priority;
    alloc_->on_priority(job, one_shot);
    return Done{};
}

Status Engine::reprioritize_all() {
    std::vector<JobId> ids;  // a called plugin may raise an exception, which removes jobs from the table
    for (const auto& [id, job] : jobs_.active_jobs()) {
        ids.push_back(id);
    }
    Status result = Done{};
    std::vector<JobId> changed;
    for (const JobId id : ids) {
        Job* job = jobs_.active(id);
        if (!job || !is_in(job->state, bit(State::priority) | bit(State::sched))) {
            continue;
        }
        const std::int64_t priority = jobtap_->priority_of(*job);
        if (priority < priority_min || (priority == job->priority && job->state == State::sched)) {
            continue;
        }
        if (auto done = reprioritize(*job, priority, false); done) {
            changed.push_back(id);
        } else if (result) {
            result = done;  // the others are served all the same
        }
    }
    std::vector<Job*> still_active;
    for (const JobId id : changed) {
        if (Job* job = jobs_.active(id)) {
            still_active.push_back(job);
        }
    }
    alloc_->on_priorities(still_active);
    return result;
}

/// While a write fails it is tried once a second, not with every message. After a sync that failed the file is made
/// anew.
Status Engine::write_journal() {
    if (!store_ || (!written_ && !is_retry_due_)) {
        return written_;
    }
    const bool was_written = written_.has_value();
    is_retry_due_ = false;
    (void)mark_clock(static_cast<double>(last_us_) / 1e6);  // the owner of the clock logs errors
    written_ = store_->is_doubtful() ? store_->compact(jobs_, next_sequence_) : store_->flush();
    report_disk(was_written);
    return written_;
}

void Engine::report_disk(bool was_written) {
    if (!written_) {
        if (was_written) {
            flux_log(h_, LOG_CRIT, "%s; until it can be written nothing starts and no change is answered",
                     written_.error().message.c_str());
        }
        flux_timer_watcher_reset(retry_, journal_retry_s * scale_, 0.);
        flux_watcher_start(retry_);
    } else if (!was_written) {
        flux_log(h_, LOG_CRIT, "job journal: it can be written again; nothing was lost");
    }
}

/// Of the flush before. What it holds is sent now, or after a retry.
void Engine::end_sync() {
    if (auto done = store_->end_sync(); !done) {
        written_ = done;
        report_disk(true);
    } else {
        outbox_.send_held();
    }
}

void Engine::on_synced(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
    auto& engine = *static_cast<Engine*>(arg);
    try {
        if (engine.store_ && engine.store_->is_syncing()) {
            engine.end_sync();  // the flush at the end of this iteration goes on
        }
    } catch (const std::exception& error) {
        flux_log(engine.handle(), LOG_ERR, "job-manager: %s", error.what());
    }
}

void Engine::on_retry(flux_reactor_t*, flux_watcher_t*, int, void* arg) noexcept {
    static_cast<Engine*>(arg)->is_retry_due_ = true;  // the flush at the end of this iteration tries
}

Status Engine::make_room() {
    if (!store_) {
        return Done{};
    }
    const Status done = written_ ? store_->reserve() : written_;
    return done ? done
                : Status(Error{done.error().code,
                               "no job is accepted until there is space again: " + done.error().message});
}

bool Engine::take_over(const flux_msg_t& msg) {
    if (msg.type == FLUX_MSGTYPE_RESPONSE) {
        outbox_.pass(const_cast<flux_msg_t*>(flux_msg_incref(&msg)));
        return true;
    }
    if (store_ && store_->is_syncing()) {
        end_sync();
    }
    if (write_journal() && store_ && store_->needs_sync()) {  // failures are logged there
        end_sync();
    }
    return false;
}

void Engine::flush() {
    if (store_ && store_->is_syncing()) {
        outbox_.send_answers_to_queries();
        return;
    }
    if (eligible_.empty()) {
        alloc_->send_requests();
    }
    if (!write_journal()) {
        outbox_.send_answers_to_queries();
        return;
    }
    if (store_ && store_->is_mostly_dead()) {
        if (auto done = store_->compact(jobs_, next_sequence_); !done) {
            flux_log(h_, LOG_ERR, "%s", done.error().message.c_str());
        }
    }
    if (store_ && store_->needs_sync()) {
        outbox_.send_answers_to_queries();
        outbox_.hold();
        store_->begin_sync();
    } else {
        outbox_.send_all();
    }
    admin_->purge_surplus();
}

void Engine::flush_through() {
    flush();
    while (store_ && store_->is_syncing()) {
        end_sync();
        flush();
    }
}

}  // namespace weir::broker::jobs
