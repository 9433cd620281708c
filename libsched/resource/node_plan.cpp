// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the steps and the search over them.
#include "libsched/resource/node_plan.hpp"

#include <algorithm>

namespace weir {

NodePlan::NodePlan(const ResourcePool& pool, Instant now) {
    Step first{now, {}};
    for (const Room& room : pool.free_by_node()) {
        first.free.push_back({room.cores, room.gpus, room.memory_mib});
    }
    steps_.push_back(std::move(first));
}

std::size_t NodePlan::step_at(Instant at) {
    const auto place = std::lower_bound(steps_.begin(), steps_.end(), at,
                                        [](const Step& step, Instant when) { return step.at < when; });
    const auto i = static_cast<std::size_t>(place - steps_.begin());
    if (place == steps_.end() || place->at != at) {
        steps_.insert(place, Step{at, std::prev(place)->free});
    }
    return i;
}

void NodePlan::change(Instant at, std::uint32_t node, const Room& room, int sign) {
    if (at == never) {
        return;
    }
    for (std::size_t i = step_at(std::max(at, now())); i < steps_.size(); i++) {
        Amount& free = steps_[i].free[node];
        free.cores += sign * std::int64_t{room.cores};
        free.gpus += sign * std::int64_t{room.gpus};
        free.memory_mib += sign * std::int64_t{room.memory_mib};
    }
}

void NodePlan::change(const Place& place, int sign) {
    for (const Pick& pick : place.picks) {
        change(place.at, pick.node, pick.room, sign);
        change(place.end, pick.node, pick.room, -sign);
    }
}

std::optional<std::vector<Pick>> NodePlan::fits(const ResourcePool& pool, const Request& request, std::size_t step,
                                                Instant end) const {
    std::vector<Amount> least = steps_[step].free;
    for (std::size_t i = step + 1; i < steps_.size() && steps_[i].at < end; i++) {
        for (std::size_t n = 0; n < least.size(); n++) {
            const Amount& free = steps_[i].free[n];
            least[n] = {std::min(least[n].cores, free.cores), std::min(least[n].gpus, free.gpus),
                        std::min(least[n].memory_mib, free.memory_mib)};
        }
    }
    const auto amount = [](std::int64_t value) { return static_cast<std::uint32_t>(std::max<std::int64_t>(value, 0)); };
    std::vector<Room> usable;
    usable.reserve(least.size());
    std::uint64_t cores = 0;
    for (const Amount& free : least) {
        usable.push_back({amount(free.cores), amount(free.gpus), amount(free.memory_mib)});
        cores += usable.back().cores;
    }
    return cores < cores_of(request) ? std::nullopt : pool.place(request, usable, {});
}

NodePlan::Place NodePlan::earliest(const ResourcePool& pool, const Request& request, Duration limit, Instant from,
                                   Instant horizon) const {
    for (std::size_t i = 0; i < steps_.size(); i++) {
        if (i + 1 < steps_.size() && steps_[i + 1].at <= from) {
            continue;
        }
        const Instant at = std::max(from, steps_[i].at);
        const Instant end = std::min(believed_end(at, limit), horizon);
        if (auto picks = fits(pool, request, i, end)) {
            return {at, end, std::move(*picks)};
        }
    }
    return {};
}

std::optional<std::vector<Pick>> NodePlan::fits_now(const ResourcePool& pool, const Request& request,
                                                    Instant end) const {
    return fits(pool, request, 0, end);
}

}  // namespace weir
