// SPDX-License-Identifier: LGPL-3.0-only
// Owns: requests, events and what a state leads to, as in engine.cpp. See manager.hpp; restart in manager_restart.cpp,
// what it leaves on its disk in manager_disk.cpp, the scheduler's side in manager_alloc.cpp.
#include "modules/world/manager.hpp"

#include <algorithm>

#include "broker/services/job-manager/codecs/event_stream.hpp"
#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/state/transition.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;
using jm::Job;
using jm::State;

namespace {

constexpr Duration retry = 1s;  ///< between tries to write a journal that could not be written

Duration sync_time(Random& random) {
    return random.one_in(16) ? random.between(Duration(2ms), Duration(40ms))
                             : random.between(Duration(50us), Duration(2ms));
}

}  // namespace

Manager::Manager(Process& process, StateDir& disk, Facts facts, ManagerMessages messages)
    : Part(process),
      disk_(disk),
      facts_(std::move(facts)),
      messages_(std::move(messages)),
      began_(ground().now()),
      first_mark_(disk.clock),
      priority_tap_(*this, micros(ground().now())),
      route_tap_(*this, facts_.is_child, facts_.routed_queues) {}

/// A stock Flux has no such mark, and stamps with a clock that steps.
std::int64_t Manager::next_time_us() {
    const std::int64_t now = standing_us_ != 0 ? standing_us_ : micros(clock_now());
    last_us_ = ground().machine.is_stock ? now : std::max(now, last_us_ + 1);
    return last_us_;
}

// ---- requests ----

void Manager::submit(const std::string& jobspec, std::uint32_t userid, int urgency, const SubmitReply& reply) {
    if (disk_.is_full) {  // as make_room()
        const Result<jm::JobId> refused = Error{std::errc::no_space_on_device, "nothing new is taken in"};
        send([reply, refused] { reply(refused); });
        due();
        return;
    }
    auto owned = std::make_unique<Job>();
    const std::int64_t now = next_time_us();
    auto tree = Json::parse(jobspec);
    owned->id = ids_->next(now);
    owned->sequence = next_sequence_++;
    owned->jobspec_text = jm::redact(*tree, environments_);
    owned->facts = jm::jobspec_facts(owned->jobspec_text.redacted);
    Job& job = jobs_.add(std::move(owned));
    jobs_.raise_max_id(job.id);
    Json context = Json::object();
    context.set("userid", userid).set("urgency", urgency).set("flags", 0).set("version", 1);
    (void)post_at(job, {now, "submit", std::move(context)});
    const jm::JobId id = job.id;
    route_tap_.on_new(job);
    (void)post(job, "validate");
    send([reply, id] { reply(id); });
    due();
}

Status Manager::raise_in(Job& job, const std::string& type, int severity, const std::string& text) {
    Json context = Json::object();
    context.set("type", type).set("severity", severity).set("note", text);
    const jm::JobId id = job.id;
    if (auto done = post(job, "exception", std::move(context)); !done) {
        return done;
    }
    if (severity == 0) {
        send([this, id] { messages_.kill(id); });
    }
    return Done{};
}

void Manager::raise(jm::JobId id, const std::string& type, const std::string& text, const Reply& reply) {
    if (Job* job = jobs_.active(id)) {
        (void)raise_in(*job, type, 0, text);
    }
    if (reply) {
        send(reply);
    }
    due();
}

void Manager::set_urgency(jm::JobId id, int urgency, const Reply& reply) {
    if (Job* job = jobs_.active(id); job != nullptr && !job->has_resources) {
        Json context = Json::object();
        context.set("userid", job->userid).set("urgency", urgency);
        (void)post(*job, "urgency", std::move(context));
    }
    if (reply) {
        send(reply);
    }
    due();
}

void Manager::update_routes(const std::vector<Json>& ops,
                            const std::function<void(const std::vector<std::pair<jm::JobId, std::string>>&)>& reply) {
    std::vector<std::pair<jm::JobId, std::string>> failed;
    for (const Json& op : ops) {
        if (!route_tap_.apply(op)) {
            failed.emplace_back(static_cast<jm::JobId>(*op.integer_at("id")), *op.string_at("op"));
        }
    }
    send([reply, failed = std::move(failed)] { reply(failed); });
    due();
}

void Manager::update_priorities(const priority::Push& push, bool is_synced,
                                const std::function<void(std::int64_t)>& reply) {
    const std::int64_t nonce = priority_tap_.update(push, is_synced);
    send([reply, nonce] { reply(nonce); });
    due();
}

// ---- the journal's streams ----

void Manager::publish(const Job& job, const std::string& name, const std::string& line) {
    Payload payload;
    for (const Listener& listener : listeners_) {
        if (listener.allow.count(name) == 0) {
            continue;
        }
        if (payload == nullptr) {
            payload = std::make_shared<std::string>(jm::live_event_text(job, name, line));
        }
        send([to = listener.to, payload] { (*to)(payload); });
    }
}

void Manager::open_journal(const Json& allow, const Receiver& to) {
    Listener listener{&to, {}};
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(allow.get(), name, value) {
        listener.allow.insert(name);
    }
    const auto takes = [&listener](std::string_view line) { return listener.allow.count(jm::name_of_line(line)) > 0; };
    const auto send_job = [&](const Job& job) {
        send([&to, text = std::make_shared<std::string>(jm::backlog_text(job, takes))] { to(text); });
    };
    for (const Job* job : jobs_.inactive_jobs()) {
        send_job(*job);
    }
    for (const auto& [id, job] : jobs_.active_jobs()) {
        send_job(*job);
    }
    send([&to] { to(std::make_shared<std::string>(jm::end_of_backlog)); });
    listeners_.push_back(std::move(listener));
    due();
}

// ---- events ----

Status Manager::post(Job& job, std::string name, Json context) {
    return post_at(job, {next_time_us(), std::move(name), std::move(context)});
}

/// One event at a time: those that it causes wait behind it.
Status Manager::post_at(Job& job, jm::Event event) {
    job.posted.push_back({std::move(event), false});
    if (job.posted.size() > 1) {
        return Done{};
    }
    Status result = Done{};
    for (std::size_t i = 0; i < job.posted.size(); ++i) {
        if (job.state == State::inactive) {
            break;
        }
        const jm::Event next = job.posted[i].event.share();
        const Status done = process_event(job, next);
        if (!done && i == 0) {
            result = done;
        } else if (!done) {
            note("job " + std::to_string(job.id) + ": " + done.error().message);
        }
    }
    job.posted.clear();
    if (job.state == State::inactive) {
        retire(job);
    }
    return result;
}

Status Manager::process_event(Job& job, const jm::Event& event) {
    const State before = job.state;
    if (auto done = jm::transition(job, event); !done) {
        return done;
    }
    const std::string line = jm::encode(event);
    if (ground().is_traced()) {
        note("job " + std::to_string(job.id) + " (" + std::to_string(submission_in(job.jobspec_text.redacted)) + ") " +
             event.name + (event.context ? " " + event.context.dump() : ""));
    }
    job.eventlog += line;
    job.eventlog += '\n';
    jobs_.count(job, before);
    if (event.name == "set-flags" && job.alloc_bypass) {
        dequeue(job);
        cancel_alloc(job, true);
    }
    writer_.add(job, line);
    note_truth(job, event.name);
    publish(job, event.name, line);
    if (job.state != before) {
        on_state(job);
    }
    act(job);
    return Done{};
}

/// The plugins' callbacks for states.
void Manager::on_state(Job& job) {
    switch (job.state) {
        case State::priority:
            priority_tap_.on_priority(job);
            break;
        case State::sched:
            route_tap_.on_sched(job);
            break;
        case State::run:
            route_tap_.on_run(job);
            break;
        case State::cleanup:
            route_tap_.on_cleanup(job);
            break;
        case State::inactive:
            route_tap_.on_inactive(job);
            priority_tap_.on_inactive(job);
            break;
        default:
            break;
    }
}

void Manager::act(Job& job) {
    switch (job.state) {
        case State::depend:
            if (!std::exchange(job.depend_posted, true)) {
                (void)post(job, "depend");
            }
            break;
        case State::priority:
            cancel_alloc(job, false);
            dequeue(job);
            break;
        case State::sched:
            enqueue(job);
            break;
        case State::run:
            if (job.perilog_active == 0 && !job.is_queued_event("prolog-start")) {
                launch(job);
            }
            break;
        case State::cleanup:
            act_in_cleanup(job);
            break;
        default:
            break;
    }
}

void Manager::launch(Job& job) {
    if (job.start_pending) {
        return;
    }
    if (!job.was_launched) {
        const jm::Event mark{next_time_us(), jm::launch_mark, {}};
        (void)jm::transition(job, mark);
        writer_.add(job, jm::encode(mark));
    }
    job.start_pending = true;
    send([this, id = job.id] {
        if (const Job* there = jobs_.active(id)) {
            messages_.start(*there);
        }
    });
}

void Manager::act_in_cleanup(Job& job) {
    cancel_alloc(job, true);
    dequeue(job);
    if (job.perilog_active != 0 || job.is_queued_event("epilog-start") || job.start_pending) {
        return;
    }
    if (job.has_resources && !job.free_posted) {
        job.free_posted = true;
        if (!job.alloc_bypass && is_online_) {
            send([this, id = job.id, R = job.r->text] { messages_.free(id, R); });
        }
        (void)post(job, "free");
    } else if (!job.has_resources && !job.clean_posted) {
        job.clean_posted = true;
        (void)post(job, "clean");
    }
}

void Manager::retire(Job& job) {
    if (jobs_.active(job.id) != nullptr) {
        jobs_.retire(job);
    }
}

void Manager::reprioritize(Job& job, std::int64_t priority) {
    if (!jm::is_in(job.state, jm::bit(State::priority) | jm::bit(State::sched))) {
        return;
    }
    if (job.urgency == jm::urgency_hold) {
        priority = jm::priority_min;
    } else if (job.urgency == jm::urgency_expedite) {
        priority = jm::priority_max;
    }
    if (priority == job.priority && job.state == State::sched) {
        return;
    }
    if (!post(job, "priority", std::move(Json::object().set("priority", priority)))) {
        return;
    }
    job.priority = priority;
    if (job.alloc_queued) {
        if (job.priority == jm::priority_min) {
            dequeue(job);
        } else {
            queue_.reorder(job);
        }
    } else if (job.alloc_pending) {
        if (job.priority == jm::priority_min) {
            cancel_alloc(job, false);
        } else {
            sent_.reorder(job);
            send([this, id = job.id, priority] { messages_.prioritize({{id, priority}}); });
        }
    } else {
        enqueue(job);
    }
}

// ---- the executor ----

void Manager::started(jm::JobId id) {
    if (Job* job = jobs_.active(id); job != nullptr && !job->was_started) {
        (void)post(*job, "start");
        due();
    }
}

/// The process ended, and the executor has nothing left of it.
void Manager::finished(jm::JobId id, int status) {
    if (Job* job = jobs_.active(id)) {
        (void)post(*job, "finish", std::move(Json::object().set("status", status)));
        job->start_pending = false;
        (void)post(*job, "release", std::move(Json::object().set("ranks", "all").set("final", true)));
        due();
    }
}

// ---- the disk, then the messages ----

/// One flush a turn of the reactor; other requests may come in the same turn.
void Manager::due() {
    if (std::exchange(is_flush_due_, true)) {
        return;
    }
    const Duration delay = ground().random.between(Duration(0), Duration(300us));
    if (Task task = std::exchange(before_flush_, {})) {
        ground().agenda.after(ground().random.between(Duration(0), delay), std::move(task));
    }
    later(delay, [this] { flush(); });
}

void Manager::flush() {
    is_flush_due_ = false;
    if (is_syncing_) {
        return;  // the end of the sync goes on
    }
    while (is_online_ && !queue_.empty()) {
        Job& job = *queue_.first();
        send([this, id = job.id, userid = job.userid, priority = job.priority, submit = job.t_submit_us(),
              text = job.jobspec_text.redacted] {
            messages_.alloc(id, userid, priority, Instant{Duration{submit}}, text);
        });
        dequeue(job);
        sent_.insert(job);
        job.alloc_pending = true;
    }
    write();
}

void Manager::write() {
    mark_events();
    if (writer_.size() > 0) {
        if (!disk_.append(writer_.text())) {
            is_flush_due_ = true;
            later(retry, [this] { flush(); });
            return;
        }
        writer_.clear_text();
    }
    is_up_ = true;
    if (disk_.synced < disk_.journal.size()) {
        is_syncing_ = true;
        later(sync_time(ground().random),
              [this, end = disk_.journal.size(), held = std::exchange(outbox_, {})] { end_sync(end, held); });
        return;
    }
    send_each(std::exchange(outbox_, {}));
}

void Manager::end_sync(std::size_t end, const std::vector<Task>& held) {
    is_syncing_ = false;
    disk_.sync(end);
    send_each(held);
    flush();
}

void Manager::send_each(const std::vector<Task>& messages) {
    for (const Task& message : messages) {
        message();
    }
}

}  // namespace weir::world
