// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sums of the nodes' steps at an instant, and the least of them over a job's time.
#include "libsched/resource/node_plan.hpp"

namespace weir {

void NodePlan::change_returns(Instant end, const std::vector<Pick>& picks, int sign) {
    if (sign > 0) {
        rises_.add(end);
    } else {
        rises_.remove(end);
    }
    for (const Pick& pick : picks) {
        returns_[pick.node].change(end, pick.amounts, sign);
    }
}

void NodePlan::give_back(Instant end, const std::vector<Pick>& picks) {
    for (const Pick& pick : picks) {
        returns_[pick.node].change(end, pick.amounts, -1);
    }
}

void NodePlan::change_kept(const Place& place, int sign) {
    if (place.at >= place.end) {
        return;  // it fits never, or past the horizon
    }
    if (sign > 0) {
        falls_.add(place.at);
        rises_.add(place.end);
    } else {
        falls_.remove(place.at);
        rises_.remove(place.end);
    }
    for (const Pick& pick : place.picks) {
        kept_[pick.node].change(place.at, pick.amounts, -sign);
        kept_[pick.node].change(place.end, pick.amounts, sign);
    }
}

std::vector<Amounts> NodePlan::returned(const ResourcePool& pool, Instant at) const {
    std::vector<Amounts> by_node(returns_.size());
    for (std::size_t n = 0; n < by_node.size(); n++) {
        looked_at_++;
        if (pool.nodes()[n].is_up) {
            by_node[n] = returns_[n].until(at, looked_at_).amounts();
        }
    }
    return by_node;
}

Instant NodePlan::only_more_until(const Want& want, Instant from) const {
    const Instant next = falls_.first_from(std::max(want.end_from(from), from + tick));
    if (next == never) {
        return never - tick;
    }
    return next - (want.horizon <= next ? tick : std::max(want.limit, tick));
}

std::optional<std::vector<Pick>> NodePlan::fits(const ResourcePool& pool, const Want& want, Instant now,
                                                Instant at) const {
    const Instant end = want.end_from(at);
    std::vector<Amounts> usable(returns_.size());
    std::uint64_t cores = 0;
    for (std::size_t n = 0; n < usable.size(); n++) {
        looked_at_++;
        if (!pool.nodes()[n].is_up) {
            continue;
        }
        AmountSum now_free;
        now_free.add(pool.free_by_node()[n], 1);
        const auto free_at = [&](Instant when, const AmountSum& taken) {
            return now_free + taken + returns_[n].until(when, looked_at_);
        };
        const AmountSum kept = kept_[n].until(at, looked_at_);
        AmountSum free = now_free;
        if (at > now) {
            free = free_at(at, kept);
        } else if (kept != AmountSum{}) {  // from a moment later on, when what is due has come back, too
            free = least(free, free_at(at, kept));
        }
        kept_[n].each_between(at, end, looked_at_,
                              [&](const AmountSteps::Step& step) { free = least(free, free_at(step.at, step.sum)); });
        usable[n] = free.amounts();
        cores += usable[n].cores;
    }
    return cores < cores_of(want.request) ? std::nullopt : pool.place(want.request, usable, {});
}

}  // namespace weir
