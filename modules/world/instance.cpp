// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the wiring of a simulated broker. See instance.hpp.
#include "modules/world/instance.hpp"

#include <algorithm>

#include "libfairshare/base/json/r.hpp"

namespace weir::world {

using namespace std::chrono_literals;

// ---- processes ----

Executor::~Executor() {
    for (const auto& [id, running] : running_) {
        around_.machine.release(running.cores, running.submission);
    }
}

void Executor::start(std::uint64_t id, const std::string& jobspec, const std::string& R) {
    Running running;
    running.submission = submission_in(jobspec);
    const auto read = decode_r(R);
    if (!read || read->resources.nodes.empty()) {
        ground().fail(process().name, "job " + std::to_string(id) + " starts without an R: " + R);
        return;
    }
    read->resources.nodes.front().cores.each([&](std::uint32_t core) {
        const auto& cores = instance_.facts_.cores;
        running.cores.push_back(core < cores.size() ? cores[core] : UINT32_MAX);
    });
    later(ground().random.between(Duration(1ms), Duration(20ms)),
          [this, id, running = std::move(running)] { begin(id, running); });
    running_[id];  // it can be killed from now on
}

void Executor::begin(std::uint64_t id, Running running) {
    if (running_.at(id).is_killed) {
        end(id, 15);
        return;
    }
    Submission& submission = around_.submissions.at(running.submission);
    running.is_child = !submission.serves.empty();
    running_[id] = running;
    submission.starts += 1;
    around_.began(submission);
    if (submission.starts > 1) {
        ground().fail(process().name, "submission " + std::to_string(submission.number) + " starts a second time");
    }
    if (running.cores.size() != submission.cores) {
        ground().fail(process().name, "submission " + std::to_string(submission.number) + " asked for " +
                                          std::to_string(submission.cores) + " cores and got " +
                                          std::to_string(running.cores.size()));
    }
    note("process of " + std::to_string(submission.number) + " begins");
    instance_.send(*instance_.manager_, Instance::Way::exec_in, [id](Manager& manager) { manager.started(id); });
    if (running.is_child) {  // its jobs take the cores
        if (!around_.boot(submission.place, id, running.cores)) {
            running_.at(id).cores.clear();
            end(id, 256);
        }
        return;
    }
    around_.machine.take(running.cores, submission.number);
    later(submission.runs, [this, id, status = submission.status] { end(id, status); });
}

void Executor::end(std::uint64_t id, int status) {
    const auto found = running_.find(id);
    if (found == running_.end()) {
        return;
    }
    note("process of " + std::to_string(found->second.submission) + " ends with " + std::to_string(status));
    around_.machine.release(found->second.cores, found->second.submission);
    running_.erase(found);
    instance_.send(*instance_.manager_, Instance::Way::exec_in,
                   [id, status](Manager& manager) { manager.finished(id, status); });
}

void Executor::kill(std::uint64_t id) {
    const auto found = running_.find(id);
    if (found == running_.end()) {
        return;
    }
    found->second.is_killed = true;
    if (found->second.is_child) {
        around_.end(around_.submissions.at(found->second.submission).place);
    } else if (!found->second.cores.empty()) {
        later(ground().random.between(Duration(1ms), Duration(50ms)), [this, id] { end(id, 15); });
    }
}

void Executor::child_ended(std::uint64_t id, int status) {
    later(ground().random.between(Duration(1ms), Duration(50ms)), [this, id, status] { end(id, status); });
}

// ---- the broker ----

Instance::Instance(Ground& ground, StateDir& disk, Facts facts, Surroundings around)
    : process_{ground, facts.name, facts.clock, {}}, disk_(disk), facts_(std::move(facts)), around_(std::move(around)) {
    const bool is_child = facts_.host != 0;
    const auto cores = static_cast<std::uint32_t>(facts_.cores.size());
    manager_ = std::make_unique<Manager>(process_, disk, Manager::Facts{is_child, facts_.queues}, messages());
    executor_ = std::make_unique<Executor>(process_, *this, around_);
    priority_ = make_priority();
    route_ = std::make_unique<RoutePart>(
        process_, RoutePart::Facts{facts_.host, facts_.queues, {facts_.serves}, resources(), cores},
        RoutePart::Peers{to_manager(Way::route_in),
                         [this] {
                             Instance* parent = around_.parent();
                             return parent != nullptr ? &parent->route() : nullptr;
                         },
                         [this](const std::vector<priority::GivenPriority>& rows, bool is_all, bool is_complete) {
                             priority_->receive(channel(Way::given), [this, rows, is_all, is_complete] {
                                 priority_->on_given(rows, is_all, is_complete);
                             });
                         },
                         [this] { return around_.partitions(); }, [this] { return around_.partitions_version(); }});
    sched_ = std::make_unique<SchedPart>(process_, facts_.policy, cores, to_manager(Way::sched_in));
    manager_->start();
    priority_->start(facts_.share_tree);
    route_->start();
    sched_->start();
    if (is_child) {
        route_->open_priorities();
    }
}

Instance::~Instance() = default;

std::function<void(std::function<void(Manager&)>)> Instance::to_manager(Way way) {
    return [this, way](std::function<void(Manager&)> request) { send(*manager_, way, std::move(request)); };
}

std::unique_ptr<PriorityPart> Instance::make_priority() {
    const auto cores = static_cast<std::uint32_t>(facts_.cores.size());
    return std::make_unique<PriorityPart>(
        process_, disk_, facts_.settings, PriorityPart::Facts{facts_.serial, facts_.host, cores, facts_.is_following},
        PriorityPart::Peers{to_manager(Way::priority_in), [this] {
                                Instance* parent = around_.parent();
                                return parent != nullptr ? &parent->priority() : nullptr;
                            }});
}

void Instance::reload_priority() {
    priority_->finish();
    priority_ = make_priority();
    priority_->start(facts_.share_tree);
    if (facts_.host != 0) {
        route_->open_priorities();
    }
}

bool Instance::is_busy() const {
    const Instant now = process_.ground.now();
    return process_.stopped_until >= now || route_->is_link_busy() || priority_->is_link_busy() ||
           std::any_of(channels_.begin(), channels_.end(), [now](const Channel& one) { return one.last >= now; });
}

void Instance::send(Manager& manager, Way way, std::function<void(Manager&)> request) {
    manager.receive(channel(way), [&manager, request = std::move(request)] { request(manager); });
}

ManagerMessages Instance::messages() {
    ManagerMessages out;
    out.to_priority = [this](const Payload& payload) {
        priority_->receive(channel(Way::priority_out), [this, payload] { priority_->on_journal(*payload); });
    };
    out.to_route = [this](const Payload& payload) {
        route_->receive(channel(Way::route_out), [this, payload] { route_->on_journal(*payload); });
    };
    out.alloc = [this](std::uint64_t id, std::uint32_t userid, std::int64_t priority, Instant submit,
                       const std::string& jobspec) {
        around_.asked(submission_in(jobspec));
        sched_->receive(channel(Way::sched_out), [this, id, userid, priority, submit, jobspec] {
            sched_->alloc(id, userid, priority, submit, jobspec);
        });
    };
    out.greet = [this](const RunningJobs& running) {
        sched_->receive(channel(Way::sched_out), [this, running] { sched_->greeted(running); });
    };
    out.cancel = [this](std::uint64_t id) {
        sched_->receive(channel(Way::sched_out), [this, id] { sched_->cancel(id); });
    };
    out.free = [this](std::uint64_t id, const std::string& R) {
        sched_->receive(channel(Way::sched_out), [this, id, R] { sched_->free(id, R); });
    };
    out.prioritize = [this](const std::vector<std::pair<std::uint64_t, std::int64_t>>& jobs) {
        sched_->receive(channel(Way::sched_out), [this, jobs] { sched_->prioritize(jobs); });
    };
    out.start = [this](const jm::Job& job) {
        executor_->receive(channel(Way::exec_out), [this, id = job.id, jobspec = job.jobspec_text.redacted,
                                                    R = job.r->text] { executor_->start(id, jobspec, R); });
    };
    out.kill = [this](std::uint64_t id) {
        executor_->receive(channel(Way::exec_out), [this, id] { executor_->kill(id); });
    };
    return out;
}

/// As hwloc and the parent's R have it: our own numbers, from 0.
std::string Instance::resources() const {
    R r;
    r.resources.nodes.push_back({0, IdSet::range(0, static_cast<std::uint32_t>(facts_.cores.size()) - 1), {}, 0});
    r.hosts.emplace_back("machine");
    return encode_r(r).dump();
}

}  // namespace weir::world
