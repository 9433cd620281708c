// SPDX-License-Identifier: LGPL-3.0-only
// Owns: World's eventlogs: what follows from an event, and what becomes of a process that is killed and comes back with
// nothing but them. See world.hpp.
#include <algorithm>

#include "t/unit/job_route/world.hpp"

namespace weir::route::test {
namespace {

Event an_event(Event::Kind kind, const std::string& type) {
    Event event;
    event.kind = kind;
    event.type = type;
    return event;
}

bool is_in(const std::vector<Event>& log, Event::Kind kind) {
    return std::any_of(log.begin(), log.end(), [kind](const Event& event) { return event.kind == kind; });
}

/// The last `cut` of the events that nobody has been told of were never written.
template <typename Jobs>
std::vector<Event> cut_logs(Jobs& jobs, std::vector<std::uint64_t>& unwritten, unsigned cut) {
    std::vector<Event> lost;
    for (; cut > 0 && !unwritten.empty(); cut--) {
        auto& job = jobs.at(unwritten.back());
        lost.push_back(job.log.back());
        job.log.pop_back();
        unwritten.pop_back();
    }
    unwritten.clear();
    return lost;
}

}  // namespace

// ---- what follows from an event ----

void ParentJob::fold(const Event& event) {
    switch (event.kind) {
        case Event::Kind::priority:
            priority = event.priority;
            state = state == State::priority ? State::sched : state;
            break;
        case Event::Kind::urgency:
            urgency = event.urgency;
            state = state == State::sched ? State::priority : state;
            break;
        case Event::Kind::restart:
            state = state == State::sched ? State::priority : state;
            break;
        case Event::Kind::alloc:
            state = State::run;
            break;
        case Event::Kind::prolog_start:
            is_held = true;
            break;
        case Event::Kind::prolog_finish:
            is_held = false;
            break;
        case Event::Kind::finish:
            status = event.status;
            state = State::cleanup;
            break;
        case Event::Kind::exception:
            if (state <= State::run) {
                failure = event.type;
                state = State::cleanup;
            }
            break;
        case Event::Kind::clean:
            state = State::inactive;
            break;
        default:
            break;
    }
}

bool ParentJob::has(Event::Kind kind) const {
    return is_in(log, kind);
}

void LocalJob::fold(const Event& event) {
    switch (event.kind) {
        case Event::Kind::alloc:
            state = State::allocated;
            break;
        case Event::Kind::prolog_start:
            is_held = true;
            break;
        case Event::Kind::prolog_finish:
            is_held = false;
            break;
        case Event::Kind::start:
            state = State::run;
            break;
        case Event::Kind::finish:
        case Event::Kind::exception:
            state = std::max(state, State::cleanup);
            break;
        case Event::Kind::clean:
            state = State::ended;
            break;
        default:
            break;
    }
}

bool LocalJob::has(Event::Kind kind) const {
    return is_in(log, kind);
}

void World::post(std::uint64_t id, Event event) {
    ParentJob& job = jobs.at(id);
    job.log.push_back(event);
    journal.emplace_back(id, event);
    unwritten.push_back(id);
    job.fold(event);
    if (event.kind == Event::Kind::urgency) {
        unprioritised.push_back(id);
    } else if (event.kind == Event::Kind::alloc && !job.is_host) {
        if (job.priority == 0) {
            violations.push_back("job " + std::to_string(id) + " starts over a limit");
        }
        post(id, Event::Kind::prolog_start, mirror_prolog);
    } else if (event.kind == Event::Kind::exception) {
        job.grant.reset();
    } else if (event.kind == Event::Kind::route) {
        for (auto& [host, child] : children) {
            if (host != event.child) {
                child.first.erase(id);  // it left, and may come back as any other job
            }
        }
    }
    clean_if_free(id);
}

void World::post(std::uint64_t id, Event::Kind kind, const std::string& type) {
    post(id, an_event(kind, type));
}

void World::clean_if_free(std::uint64_t id) {
    const ParentJob& job = jobs.at(id);
    if (job.state == ParentJob::State::cleanup && !job.is_held) {
        post(id, Event::Kind::clean);
    }
}

void World::post_local(Instance& child, std::uint64_t local, Event event) {
    LocalJob& job = child.jobs.at(local);
    job.log.push_back(event);
    job.fold(event);
    child.journal.emplace_back(local, event);
    child.unwritten.push_back(local);
}

void World::post_local(Instance& child, std::uint64_t local, Event::Kind kind, const std::string& type) {
    post_local(child, local, an_event(kind, type));
}

// ---- a child is killed ----

void World::kill_broker(std::uint64_t id, unsigned cut) {
    Instance& child = children.at(id);
    if (!child.is_alive) {
        return;
    }
    child.is_alive = false;
    drop_link(id);
    const std::vector<std::uint64_t> whose = child.unwritten;
    const std::vector<Event> lost = cut_logs(child.jobs, child.unwritten, cut);
    for (std::size_t i = 0; i < lost.size(); i++) {
        // The request to start it is sent when the end of the prolog is on disk.
        LocalJob& job = child.jobs.at(whose[whose.size() - 1 - i]);
        if (lost[i].kind == Event::Kind::prolog_finish && job.has(Event::Kind::alloc) &&
            !job.has(Event::Kind::exception)) {
            starts[job.upstream] -= 1;
        }
    }
}

void World::end_host(std::uint64_t id) {
    if (jobs.at(id).state <= ParentJob::State::run) {
        unwritten.clear();
        Event event;
        event.kind = Event::Kind::finish;
        event.status = 9;
        post(id, event);
    }
}

void World::kill_child(std::uint64_t id, unsigned cut) {
    kill_broker(id, cut);
    end_host(id);
}

void World::reboot(std::uint64_t id) {
    if (!children.at(id).is_alive && jobs.at(id).state == ParentJob::State::run) {
        restore(children.at(id));
    }
}

/// As the job-manager, the executor and the plugin take up what the eventlogs tell.
void World::restore(Instance& child) {
    child.is_alive = true;
    child.is_open = false;
    child.given.clear();
    child.first.clear();
    child.ingest.clear();
    child.ops.clear();
    std::erase_if(child.jobs, [](const auto& entry) { return entry.second.log.empty(); });
    for (auto& [local, job] : child.jobs) {
        LocalJob restored;
        restored.upstream = job.upstream;
        for (const Event& event : job.log) {
            restored.fold(event);
        }
        restored.log = std::move(job.log);
        job = std::move(restored);
    }
    for (auto& [local, job] : child.jobs) {
        if (job.state == LocalJob::State::run) {
            failed.insert(job.upstream);
            fail_local(child, local, "exec");
        } else if (job.state == LocalJob::State::allocated && !job.has(Event::Kind::prolog_start)) {
            job.is_marked = true;
            post_local(child, local, Event::Kind::prolog_start, go_prolog);
        } else if (job.state == LocalJob::State::allocated && !job.is_held) {
            start_local(child, local);
        } else if (job.state == LocalJob::State::cleanup && !job.is_held) {
            post_local(child, local, Event::Kind::clean);
        }
    }
    child.link = ChildLink();
    for (const auto& [local, job] : child.jobs) {
        for (const Event& event : job.log) {
            feed_local(child, local, event);
        }
    }
    child.journal.clear();
    child.unwritten.clear();
    child.link.synced();
    take_link(child);
}

// ---- the parent is killed ----

void World::kill_parent(unsigned cut, bool is_alone) {
    cut_logs(jobs, unwritten, cut);
    std::erase_if(jobs, [](const auto& entry) { return !entry.second.has(Event::Kind::priority); });
    unprioritised.clear();
    for (auto& [id, job] : jobs) {
        ParentJob restored;
        restored.is_cancelled = job.is_cancelled;
        restored.rank = job.rank;
        restored.is_limited = job.is_limited;
        restored.is_host = job.is_host;
        restored.facts = job.facts;
        for (const Event& event : job.log) {
            restored.fold(event);
        }
        restored.log = std::move(job.log);
        job = std::move(restored);
    }
    for (auto& [id, job] : jobs) {
        if (job.is_host && job.state == ParentJob::State::run && !is_alone) {
            kill_broker(id, cut);
            post(id, Event::Kind::exception, "exec");
        } else if (!job.is_host && job.state == ParentJob::State::run && !job.has(Event::Kind::prolog_start)) {
            post(id, Event::Kind::prolog_start, mirror_prolog);
        } else if (job.state == ParentJob::State::sched) {
            post(id, Event::Kind::restart);
        }
        if (job.state == ParentJob::State::priority) {
            unprioritised.push_back(id);
        }
        clean_if_free(id);
    }
    unwritten.clear();
    restart_table();
}

}  // namespace weir::route::test
