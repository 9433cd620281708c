// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the steps of World. See world.hpp.
#include <algorithm>

#include "t/unit/job_route/world.hpp"

namespace weir::route::test {

// ---- the plugin: what tap.cpp does ----

void World::apply(const TapOp& op) {
    using Kind = TapOp::Kind;
    const std::uint64_t id = op.id.value;
    ParentJob& job = jobs.at(id);
    Event event;
    if (job.state == ParentJob::State::inactive) {
        table.tap_failed(op.id, op.kind);
        return;
    }
    switch (op.kind) {
        case Kind::give:
            if (job.state > ParentJob::State::sched) {
                table.tap_failed(op.id, op.kind);
                return;
            }
            job.grant.reset();
            event.kind = Event::Kind::route;
            event.child = op.child.value;
            post(id, event);
            break;
        case Kind::alloc:
            if (job.state == ParentJob::State::sched && job.priority == 0) {
                event.kind = Event::Kind::route;
                post(id, event);
            } else if (job.state <= ParentJob::State::sched) {
                job.grant = op.child.value;
                if (job.state == ParentJob::State::sched) {
                    set_urgency(id, job.urgency);
                }
            }
            break;
        case Kind::start:
            if (job.state == ParentJob::State::run) {
                event.kind = Event::Kind::start;
                post(id, event);
            }
            break;
        case Kind::finish:
            event.kind = Event::Kind::finish;
            event.status = op.status;
            post(id, event);
            break;
        case Kind::exception:
            event.kind = Event::Kind::exception;
            event.type = op.type;
            post(id, event);
            break;
        case Kind::clean:
            if (job.state == ParentJob::State::run) {
                violations.push_back("clean of a job in RUN");
            } else if (job.state == ParentJob::State::cleanup && job.is_held) {
                post(id, Event::Kind::prolog_finish, mirror_prolog);
            }
            break;
    }
}

bool World::step_tap() {
    if (tap.empty()) {
        return false;
    }
    unwritten.clear();
    const TapOp op = tap.front();
    tap.pop_front();
    apply(op);
    take_table();
    while (tap.empty() && !acks.empty()) {
        unwritten.clear();
        children.at(acks.front().first).down.push_back(acks.front().second);
        acks.pop_front();
    }
    return true;
}

// ---- links ----

bool World::connect(std::uint64_t id) {
    Instance& child = children.at(id);
    if (!child.does_run() || !child.is_ready || !child.session.empty()) {
        return false;
    }
    child.session = std::to_string(++sessions);
    Message message;
    message.kind = Message::Kind::attach;
    message.session = child.session;
    message.attach.child = JobId{id};
    message.attach.session = child.session;
    message.attach.known = child.link.known();
    message.attach.cores = 1;
    child.up.push_back(std::move(message));
    return true;
}

bool World::send_report(std::uint64_t id) {
    Instance& child = children.at(id);
    Message message;
    message.kind = Message::Kind::report;
    message.session = child.session;
    message.events = child.is_stopped ? std::vector<ChildEvent>() : child.link.next_report(3);
    if (message.events.empty()) {
        return false;
    }
    child.up.push_back(std::move(message));
    return true;
}

bool World::step_up(std::uint64_t id) {
    Instance& child = children.at(id);
    if (child.up.empty()) {
        return false;
    }
    const Message message = child.up.front();
    child.up.pop_front();
    Message answer;
    answer.session = message.session;
    if (message.kind == Message::Kind::attach) {
        const bool is_taken = table.attach(message.attach, Caller{0, true}).has_value();
        for (const auto& [job_id, job] : jobs) {
            const auto view = table.find(JobId{job_id});
            if (is_taken && !child.is_open && view && view->child.value == id) {
                child.first.insert(job_id);
            }
        }
        answer.kind = is_taken ? Message::Kind::attached : Message::Kind::refused;
        child.down.push_back(answer);
        take_table();
        return true;
    }
    const auto seq = table.report({JobId{id}, message.session, message.events});
    answer.kind = seq ? Message::Kind::ack : Message::Kind::refused;
    answer.seq = seq ? *seq : 0;
    take_table();
    if (seq && !tap.empty()) {
        acks.emplace_back(id, answer);
    } else {
        child.down.push_back(answer);
    }
    return true;
}

bool World::step_down(std::uint64_t id) {
    Instance& child = children.at(id);
    if (child.is_stopped || child.down.empty()) {
        return false;
    }
    const Message message = child.down.front();
    child.down.pop_front();
    switch (message.kind) {
        case Message::Kind::attached:
            child.link.attached();
            break;
        case Message::Kind::refused:
            drop_link(id);
            break;
        case Message::Kind::ack:
            child.link.acked(message.seq);
            break;
        case Message::Kind::orders:
            for (const Order& order : message.orders) {
                child.link.order(order);
            }
            break;
        case Message::Kind::attach:
        case Message::Kind::report:
            break;
    }
    take_link(child);
    return true;
}

// ---- a child ----

bool World::step_local_journal(std::uint64_t id) {
    Instance& child = children.at(id);
    if (!child.does_run() || child.journal.empty()) {
        return false;
    }
    child.unwritten.clear();
    const auto [local, event] = child.journal.front();
    child.journal.pop_front();
    feed_local(child, local, event);
    take_link(child);
    return true;
}

/// job-ingest takes a submission; the answer may be lost with a restart of the module, the job is not.
bool World::step_ingest(std::uint64_t id) {
    Instance& child = children.at(id);
    if (!child.does_run() || child.ingest.empty()) {
        return false;
    }
    const Order order = child.ingest.front();
    child.ingest.pop_front();
    child.unwritten.clear();
    const std::uint64_t local = next_id++;
    child.jobs[local].upstream = order.id.value;
    Event event;
    event.urgency = order.urgency;
    post_local(child, local, event);
    if (order.kind == Order::Kind::submit) {  // the module that asked is still there
        child.unwritten.clear();
        child.link.submit_done(order.id, LocalId{local});
        take_link(child);
    }
    return true;
}

/// As the plugin does it when a job ends that it holds.
void World::end_local(Instance& child, std::uint64_t local, Event event) {
    LocalJob& job = child.jobs.at(local);
    if (job.state >= LocalJob::State::cleanup) {
        return;
    }
    post_local(child, local, std::move(event));
    if (job.is_held && job.is_marked) {
        close_prolog(child, local);
    } else if (!job.is_held) {
        post_local(child, local, Event::Kind::clean);
    }
}

void World::fail_local(Instance& child, std::uint64_t local, const std::string& type) {
    Event event;
    event.kind = Event::Kind::exception;
    event.type = type;
    end_local(child, local, event);
}

/// The plugin's op go.
void World::close_prolog(Instance& child, std::uint64_t local) {
    LocalJob& job = child.jobs.at(local);
    if (std::exchange(job.is_released, true)) {
        return;
    }
    if (!job.is_held) {
        violations.emplace_back("the end of a prolog that is not open");
    }
    post_local(child, local, Event::Kind::prolog_finish, go_prolog);
    if (job.state == LocalJob::State::cleanup) {
        post_local(child, local, Event::Kind::clean);
    } else {
        if (++starts[job.upstream] > 1) {
            violations.push_back("job " + std::to_string(job.upstream) + " started twice");
        }
        start_local(child, local);
    }
}

void World::start_local(Instance& child, std::uint64_t local) {
    post_local(child, local, Event::Kind::start);
}

bool World::step_op(std::uint64_t id) {
    Instance& child = children.at(id);
    if (!child.does_run() || child.ops.empty()) {
        return false;
    }
    child.unwritten.clear();
    const LocalOp op = child.ops.front();
    child.ops.pop_front();
    const auto job = child.jobs.find(op.job.value);
    if (job == child.jobs.end() || job->second.state == LocalJob::State::ended) {
        return true;
    }
    if (child.refusals > 0) {
        child.refusals -= 1;
        child.link.failed(op);
    } else if (op.kind == LocalOp::Kind::raise) {
        fail_local(child, op.job.value, op.type);
    } else if (op.kind == LocalOp::Kind::go) {
        close_prolog(child, op.job.value);
    }
    return true;
}

std::vector<std::uint64_t> World::order_of(const Instance& child) {
    std::vector<std::pair<Place, std::uint64_t>> places;
    for (const auto& [local, job] : child.jobs) {
        if (job.state == LocalJob::State::sched) {
            const auto given = child.given.find(job.upstream);
            places.emplace_back(Place{given == child.given.end() ? 0 : -given->second, local}, local);
        }
    }
    std::sort(places.begin(), places.end());
    std::vector<std::uint64_t> locals;
    for (const auto& [place, local] : places) {
        locals.push_back(local);
    }
    return locals;
}

/// What came back first after a restart must not start before the better ones are there.
void World::check_order(const Instance& child, std::uint64_t started) {
    const ParentJob& mine = jobs.at(started);
    for (const std::uint64_t id : child.first) {
        const bool is_here = std::any_of(child.jobs.begin(), child.jobs.end(),
                                         [id](const auto& entry) { return entry.second.upstream == id; });
        const auto view = table.find(JobId{id});
        if (!is_here && view && view->child.value == child.host && jobs.at(id).state == ParentJob::State::sched &&
            jobs.at(id).priority > mine.priority) {
            violations.push_back("job " + std::to_string(started) + " was started before the better " +
                                 std::to_string(id) + " had arrived");
        }
    }
}

bool World::step_alloc(std::uint64_t id) {
    Instance& child = children.at(id);
    if (is_full || !child.is_open) {
        return false;
    }
    for (const std::uint64_t local : order_of(child)) {
        LocalJob& job = child.jobs.at(local);
        if (child.does_run()) {
            if (jobs.count(job.upstream) > 0) {
                check_order(child, job.upstream);
            }
            child.unwritten.clear();
            Event event;
            event.kind = Event::Kind::alloc;
            event.R = "R";
            post_local(child, local, event);
            job.is_marked = true;
            post_local(child, local, Event::Kind::prolog_start, go_prolog);
            return true;
        }
    }
    return false;
}

bool World::step_finish(std::uint64_t id) {
    Instance& child = children.at(id);
    for (auto& [local, job] : child.jobs) {
        if (child.does_run() && job.state == LocalJob::State::run) {
            child.unwritten.clear();
            Event event;
            event.kind = Event::Kind::finish;
            event.status = static_cast<int>(local);
            finished_as[job.upstream] = event.status;
            end_local(child, local, event);
            return true;
        }
    }
    return false;
}

/// The child's module starts over: it has its journal, and whatever it had under way goes on without it.
void World::restart_link(std::uint64_t id) {
    Instance& child = children.at(id);
    if (!child.is_alive) {
        return;
    }
    drop_link(id);
    child.link = ChildLink();
    child.ops.clear();
    child.journal.clear();
    for (Order& order : child.ingest) {
        order.kind = Order::Kind::go;  // nobody waits for the answer any more
    }
    for (const auto& [local, job] : child.jobs) {
        for (const Event& event : job.log) {
            feed_local(child, local, event);
        }
    }
    child.link.synced();
    take_link(child);
}

/// An instance that ends in order cancels what it has, while its modules are still there.
void World::shut_down(std::uint64_t id) {
    Instance& child = children.at(id);
    for (auto& [local, job] : child.jobs) {
        if (child.is_alive) {
            fail_local(child, local, "cancel");
        }
    }
}

bool World::step_anything() {
    bool is_progress = step_journal() || step_tap() || step_fetch() || step_priority();
    for (auto& [id, child] : children) {
        is_progress = step_up(id) || step_down(id) || step_local_journal(id) || step_ingest(id) || step_op(id) ||
                      send_report(id) || step_alloc(id) || step_finish(id) || is_progress;
    }
    return is_progress;
}

/// Everybody does what there is to do, and lost links come back, until nothing is left.
void World::drain() {
    for (int round = 0; round < 100000; round++) {
        bool is_progress = step_anything();
        if (!is_progress) {
            for (auto& [id, child] : children) {
                is_progress = connect(id) || is_progress;
            }
        }
        if (!is_progress) {
            return;
        }
    }
    violations.emplace_back("it never comes to rest");
}

}  // namespace weir::route::test
