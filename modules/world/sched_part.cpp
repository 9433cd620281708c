// SPDX-License-Identifier: LGPL-3.0-only
// Owns: requests, passes and answers of a simulated scheduler. See sched_part.hpp.
#include "modules/world/sched_part.hpp"

#include <algorithm>

#include "libfairshare/base/json/r.hpp"
#include "libsched/json/jobspec.hpp"
#include "modules/world/manager.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

std::uint32_t cores_in(const ResourceSet& resources) {
    std::size_t cores = 0;
    for (const auto& node : resources.nodes) {
        cores += node.cores.count();
    }
    return static_cast<std::uint32_t>(cores);
}

}  // namespace

SchedPart::SchedPart(Process& process, Policy policy, std::uint32_t cores, ToManager to_manager)
    : Part(process),
      scheduler_(policy),
      oracle_(std::holds_alternative<Easy>(policy), cores),
      to_manager_(std::move(to_manager)) {
    ResourceSet all;
    all.nodes.push_back({0, IdSet::range(0, cores - 1), {}, 0});
    scheduler_.set_resources(all, IdSet::range(0, 0));
}

void SchedPart::start() {
    to_manager_([](Manager& manager) { manager.hello(); });
}

/// Once at the start and once when it is ready.
void SchedPart::greeted(const std::vector<std::pair<std::uint64_t, std::string>>& running) {
    if (!std::exchange(is_greeted_, true)) {
        take_running(running);
        return;
    }
    std::unordered_set<JobId> still;
    for (const auto& [id, R] : running) {
        still.insert(JobId{id});
    }
    scheduler_.confirm_hello(still);
    oracle_.keep_greeted(still);
    pass_soon();
}

void SchedPart::take_running(const std::vector<std::pair<std::uint64_t, std::string>>& running) {
    for (const auto& [id, text] : running) {
        const auto R = decode_r(text);
        if (const Status claimed = R ? scheduler_.hello(JobId{id}, R->resources, never) : Status(R.error()); !claimed) {
            ground().fail(process().name, "the scheduler cannot claim the cores of job " + std::to_string(id) + ": " +
                                              claimed.error().message);
        } else {
            oracle_.greet(JobId{id}, cores_in(R->resources));
        }
    }
    to_manager_([this](Manager& manager) {
        manager.scheduler_is_ready();
        later(Duration(200us), [this] {
            is_ready_ = true;
            to_manager_([](Manager& again) { again.hello(); });
            pass_soon();
        });
    });
}

void SchedPart::alloc(std::uint64_t id, std::uint32_t userid, std::int64_t priority, Instant submit,
                      const std::string& jobspec) {
    PendingJob job;
    const auto number = static_cast<std::uint32_t>(std::clamp<std::int64_t>(priority, 0, priority_expedited));
    job.key = {number, submit, JobId{id}};
    const auto spec = decode_jobspec(jobspec);
    if (spec) {
        job.request = spec->request;
        job.limit = spec->limit;
        job.key.submit = userid == owner ? spec->weir_submit.value_or(submit) : submit;
    }
    const Status accepted = spec ? scheduler_.alloc(job) : Status(spec.error());
    if (!accepted) {
        to_manager_([id, text = accepted.error().message](Manager& manager) { manager.denied(id, text); });
        return;
    }
    oracle_.ask({job.key, static_cast<std::uint32_t>(cores_of(job.request)), job.limit});
    requests_.insert(id);
    pass_soon();
}

/// After the answer nothing is left to cancel; what is still on its way into the KVS is taken back.
void SchedPart::cancel(std::uint64_t id) {
    if (requests_.count(id) == 0) {
        return;
    }
    if (!scheduler_.cancel(JobId{id})) {
        if (committing_.erase(id) == 0) {
            return;
        }
        (void)scheduler_.free(JobId{id}, {}, true);
        oracle_.free(JobId{id});
        pass_soon();
    }
    oracle_.withdraw(JobId{id});
    requests_.erase(id);
    to_manager_([id](Manager& manager) { manager.canceled(id); });
}

void SchedPart::free(std::uint64_t id, const std::string& R) {
    const auto read = decode_r(R);
    const Status freed = read ? scheduler_.free(JobId{id}, read->resources, true) : Status(read.error());
    if (!freed) {
        ground().fail(process().name, "the scheduler cannot free the cores of job " + std::to_string(id) + ": " +
                                          freed.error().message);
    }
    oracle_.free(JobId{id});
    pass_soon();
}

void SchedPart::prioritize(const std::vector<std::pair<std::uint64_t, std::int64_t>>& jobs) {
    std::vector<std::pair<JobId, std::uint32_t>> priorities;
    for (const auto& [id, value] : jobs) {
        priorities.emplace_back(JobId{id}, static_cast<std::uint32_t>(value));
        oracle_.prioritize(JobId{id}, static_cast<std::uint32_t>(value));
    }
    scheduler_.prioritize(priorities);
    pass_soon();
}

void SchedPart::pass_soon() {
    if (is_ready_ && scheduler_.wants_pass() && !std::exchange(is_pass_due_, true)) {
        later(ground().random.between(Duration(50us), Duration(2ms)), [this] {
            is_pass_due_ = false;
            pass();
        });
    }
}

void SchedPart::pass() {
    const Instant at = clock_now();
    std::vector<JobId> started;
    for (const Scheduler::Start& start : scheduler_.pass(at).started) {
        started.push_back(start.id);
        commit(start);
    }
    if (const std::string wrong = oracle_.check(started, at); !wrong.empty()) {
        ground().fail(process().name, wrong);
    }
    pass_soon();
}

/// R goes into the KVS before the answer.
void SchedPart::commit(const Scheduler::Start& start) {
    const std::uint64_t id = start.id.value;
    const std::uint64_t number = ++commits_;
    committing_[id] = number;
    R r;
    r.resources = start.resources;
    r.starttime = to_seconds(start.start);
    r.expiration = expected(start.end) ? to_seconds(start.end) : 0.;
    later(ground().random.between(Duration(100us), Duration(3ms)), [this, id, number, text = encode_r(r).dump()] {
        const auto found = committing_.find(id);
        if (found == committing_.end() || found->second != number) {
            return;
        }
        committing_.erase(found);
        requests_.erase(id);
        to_manager_([id, text](Manager& manager) { manager.allocated(id, text); });
    });
}

}  // namespace weir::world
