// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the check that no job waits for long which an idle partition of its queue could run. See checks.hpp.
#include "modules/world/checks.hpp"

namespace weir::world {
namespace {

using namespace std::chrono_literals;

/// Longer than HandDown spares a job a move, and the links are slow.
constexpr Duration idle_for = 20s;

/// Nothing waits there, and it has room. One that passes the jobs on is checked at its own children.
bool is_idle(World& world, const Place& child, const std::string& queue, std::uint32_t cores) {
    if (!child.live || (child.serves != queue && child.lends != queue) || !child.live->route().is_attached()) {
        return false;
    }
    for (const std::size_t below : child.children) {
        if (world.places()[below].serves == queue) {
            return false;
        }
    }
    const Scheduler& scheduler = child.live->sched().scheduler();
    return scheduler.pending() == 0 && scheduler.space().pool().free_cores() >= cores;
}

/// A limit of the child that has it holds it back there.
bool is_limited_below(World& world, const Place& place, std::uint64_t id) {
    for (const std::size_t child : place.children) {
        const Place& below = world.places()[child];
        const std::uint64_t local = below.live ? below.live->route().link().local_of(route::JobId{id}).value : 0;
        const jm::Job* copy = local != 0 ? below.live->manager().jobs().active(local) : nullptr;
        if (copy != nullptr && copy->priority == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool does_take(Instance& instance, std::uint64_t id, const std::string& partition) {
    for (const route::PartitionWord& word : instance.route().table().words_of(route::JobId{id})) {
        if (word.name == partition) {
            return !word.misfit && word.limit.empty();
        }
    }
    return true;
}

void check_idle(World& world, IdleSince& since) {
    IdleSince still;
    const Instant now = world.ground().now();
    for (const Place& place : world.places()) {
        if (!place.live || place.children.empty()) {
            continue;
        }
        for (const auto& [id, job] : place.live->manager().jobs().active_jobs()) {
            const Submission& submission = world.submissions().at(submission_in(job->jobspec_text.redacted));
            const auto route = place.live->route().table().find(route::JobId{id});
            if (submission.is_with_guest || job->state != jm::State::sched || job->priority <= 0 || !route ||
                is_limited_below(world, place, id)) {
                continue;
            }
            for (const std::size_t child : place.children) {
                const Place& partition = world.places()[child];
                if (!is_idle(world, partition, route->queue, submission.cores) ||
                    !does_take(*place.live, id, partition.name)) {
                    continue;
                }
                const auto key = std::tuple(place.number, child, id);
                const auto found = since.find(key);
                const Instant begin = found != since.end() ? found->second : now;
                still.emplace(key, begin);
                if (now - begin >= idle_for) {
                    world.ground().fail(place.name, "job " + std::to_string(id) + " waits, and " + partition.name +
                                                        " has been idle and has had room for it for " +
                                                        std::to_string(idle_for / 1s) + " s");
                }
            }
        }
    }
    since = std::move(still);
}

}  // namespace weir::world
