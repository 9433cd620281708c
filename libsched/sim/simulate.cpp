// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the event loop. Two events a job: its submission comes from the sorted input, its end from a heap.
#include "libsched/sim/simulate.hpp"

#include <limits>
#include <queue>

#include "libsched/resource/count_space.hpp"
#include "libsched/resource/resource_space.hpp"

namespace weir {
namespace {

struct QueueTraits {
    static const QueueKey& key(const PendingJob& job) { return job.key; }
    static std::int64_t weight(const PendingJob&) { return 1; }
};
using Queue = SortedChunks<PendingJob, QueueTraits>;

struct CountedQueue {
    const Queue& queue;
    std::uint64_t& considered;
    template <typename Visit>
    void walk(Visit&& visit) const {
        queue.walk([&](const PendingJob& job) {
            considered++;
            return visit(job);
        });
    }
};

void give_back(CountSpace& space, const PendingJob& job, Instant start) {
    space.release(job.key.id, believed_end(start, job.limit), static_cast<std::int64_t>(cores_of(job.request)));
}
void give_back(ResourceSpace& space, const PendingJob& job, Instant) {
    WEIR_CHECK(space.release(job.key.id, {}, true).has_value());
}

PendingJob pending(const SimJob& job, std::size_t place) {
    return PendingJob{{priority_min, job.submit, JobId{place}}, {0, job.cores, 1, false}, job.limit};
}

/// Collects what a pass starts.
template <typename Space>
struct Collect {
    std::vector<PendingJob>& gone;
    void started(const PendingJob& job, const typename Space::Taken&) { gone.push_back(job); }
    void blocked(const PendingJob&, const Blocked&) {}
};

template <typename Space, typename OnePolicy>
std::vector<Instant> replay(std::span<const SimJob> jobs, Space space, const OnePolicy& policy, SimCounters& counters) {
    using End = std::pair<std::int64_t, std::size_t>;
    std::vector<Instant> starts(jobs.size(), never);
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    Queue queue;
    std::size_t next = 0;
    std::vector<PendingJob> gone;
    while (next < jobs.size() || !ends.empty()) {
        Instant now = next < jobs.size() ? jobs[next].submit : never;
        if (!ends.empty()) {
            now = std::min(now, Instant{Duration{ends.top().first}});
        }
        while (!ends.empty() && ends.top().first == now.time_since_epoch().count()) {
            const std::size_t i = ends.top().second;
            ends.pop();
            give_back(space, pending(jobs[i], i), starts[i]);
        }
        for (; next < jobs.size() && jobs[next].submit == now; next++) {
            WEIR_CHECK(queue.insert(pending(jobs[next], next)));
        }
        gone.clear();
        counters.passes++;
        policy.pass(CountedQueue{queue, counters.considered}, space, now, Collect<Space>{gone});
        for (const PendingJob& job : gone) {
            const std::size_t i = job.key.id.value;
            WEIR_CHECK(queue.erase(job.key));
            starts[i] = now;
            ends.emplace((now + jobs[i].run).time_since_epoch().count(), i);
        }
    }
    return starts;
}

Status fits(std::span<const SimJob> jobs, std::uint64_t cores) {
    for (std::size_t i = 0; i < jobs.size(); i++) {
        if (jobs[i].cores > cores) {
            return Error{std::errc::invalid_argument, "job " + std::to_string(jobs[i].number) + " wants " +
                                                          std::to_string(jobs[i].cores) + " cores; the machine has " +
                                                          std::to_string(cores)};
        }
        if (i > 0 && jobs[i].submit < jobs[i - 1].submit) {
            return Error{std::errc::invalid_argument,
                         "job " + std::to_string(jobs[i].number) + " was submitted before the job that precedes it"};
        }
    }
    return Done{};
}

}  // namespace

Result<SimJob> sim_job(const SwfJob& job) {
    const std::int64_t cores = job.processors > 0 ? job.processors : job.requested_processors;
    constexpr std::int64_t seconds_max = 4'000'000'000'000;
    if (cores <= 0 || cores > 0xFFFFFFFFLL || job.run < 0 || job.submit < 0 || job.run > seconds_max ||
        job.submit > seconds_max || job.requested_time > seconds_max) {
        return Error{std::errc::invalid_argument,
                     "job " + std::to_string(job.job) + " cannot be replayed: processors " + std::to_string(cores) +
                         ", run time " + std::to_string(job.run) + ", submitted at " + std::to_string(job.submit)};
    }
    const auto seconds = [](std::int64_t s) { return Duration{s * 1'000'000}; };
    const auto number = []<typename To>(std::int64_t value, To) {
        return value > 0 && value <= std::numeric_limits<To>::max() ? static_cast<To>(value) : To{0};
    };
    return SimJob{job.job,
                  Instant{seconds(job.submit)},
                  seconds(job.run),
                  seconds(std::max(job.requested_time, job.run)),
                  static_cast<std::uint32_t>(cores),
                  number(job.user, std::uint32_t{}),
                  number(job.group, std::uint32_t{}),
                  number(job.queue, std::uint16_t{}),
                  number(job.partition, std::uint16_t{})};
}

Result<std::vector<Instant>> simulate(std::span<const SimJob> jobs, std::int64_t cores, const Policy& policy,
                                      SimCounters* counters) {
    if (auto ok = fits(jobs, static_cast<std::uint64_t>(cores)); !ok) {
        return ok.error();
    }
    SimCounters own;
    return std::visit(
        [&](const auto& p) { return replay(jobs, CountSpace(cores), p, counters != nullptr ? *counters : own); },
        policy);
}

Result<std::vector<Instant>> simulate_on_nodes(std::span<const SimJob> jobs, const ResourceSet& machine,
                                               const Policy& policy, SimCounters* counters) {
    if (auto ok = fits(jobs, core_count(machine)); !ok) {
        return ok.error();
    }
    SimCounters own;
    return std::visit(
        [&](const auto& p) {
            return replay(jobs, ResourceSpace(ResourcePool(machine, ranks_of(machine))), p,
                          counters != nullptr ? *counters : own);
        },
        policy);
}

}  // namespace weir
