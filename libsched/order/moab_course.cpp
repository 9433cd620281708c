// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how Moab's sum changes by time alone. Each part is constant or rises: minutes and expansion factor linearly,
// nearness to a target faster and faster; caps bound them. The bounds of each part over a time span give bounds of the
// sum.
#include <algorithm>

#include "libsched/order/moab_priorities.hpp"
#include "libsched/priority/component_sum.hpp"

namespace weir {
namespace {

/// Bounds of a value over a time span, and of its gain a second there.
struct Bounds {
    double least = 0;
    double most = 0;
    Slope slope;
};

Bounds operator+(const Bounds& a, const Bounds& b) {
    return {a.least + b.least, a.most + b.most, {a.slope.least + b.slope.least, a.slope.most + b.slope.most}};
}

Bounds weighted(double weight, const Bounds& of) {
    const Bounds made{of.least * weight, of.most * weight, {of.slope.least * weight, of.slope.most * weight}};
    return weight < 0 ? Bounds{made.most, made.least, {made.slope.most, made.slope.least}} : made;
}

/// It may be constant for a part of the span.
Slope or_still(const Slope& slope) {
    return {std::min(slope.least, 0.), std::max(slope.most, 0.)};
}

Bounds at_most(const Bounds& of, double cap) {
    return of.most <= cap ? of : of.least >= cap ? Bounds{cap, cap, {}} : Bounds{of.least, cap, or_still(of.slope)};
}

Bounds at_least(const Bounds& of, double floor) {
    return of.least >= floor  ? of
           : of.most <= floor ? Bounds{floor, floor, {}}
                              : Bounds{floor, of.most, or_still(of.slope)};
}

Bounds capped(const Bounds& of, double cap) {
    return cap > 0 ? at_most(of, cap) : of;
}

/// Derivative of (target - current)^-2 where `current` rises by `rate` a second: 2 x rate x left^-3, until left is 0.
Slope nearness_slope(double target, double from, double to, double rate) {
    const auto rise = [&](double current) {
        const double left = std::max(target - current, nearness_left_min);
        return 2 * rate / (left * left * left);
    };
    const bool is_over = target - to <= nearness_left_min;
    return target <= 0 || target - from <= nearness_left_min ? Slope{} : Slope{is_over ? 0. : rise(from), rise(to)};
}

}  // namespace

Slope MoabPriorities::slope_of(const Entry& entry, const Usage& usage, Instant from, Instant to) const {
    const Job& job = *entry.job;
    if (!is_admitted(job, usage)) {
        return {};
    }
    const Values before = values(entry, from);
    const Values after = values(entry, to);
    const auto service = static_cast<std::size_t>(MoabComponent::service);
    const auto target = static_cast<std::size_t>(MoabComponent::target);
    const double a_minute = 1. / 60;
    const double an_xfactor = 1 / to_seconds(std::max({job.limit, policy_.xfactor_shortest, Duration{1}}));
    const Targets targets = targets_of(job);
    std::array<std::array<Slope, moab_parts>, moab_components> slopes{};
    slopes[service][0] = {a_minute, a_minute};
    slopes[service][1] = {an_xfactor, an_xfactor};
    slopes[target][0] = nearness_slope(targets.minutes, before[service][0], after[service][0], a_minute);
    slopes[target][1] = nearness_slope(targets.xfactor, before[service][1], after[service][1], an_xfactor);
    const double fair = fairshare(job, usage);
    Bounds sum{fair, fair, {}};
    for (std::size_t c = 0; c < moab_components; c++) {
        const MoabPolicy::Component& component = policy_.components[c];
        Bounds parts;
        for (std::size_t i = 0; i < moab_parts && c != static_cast<std::size_t>(MoabComponent::fairshare); i++) {
            const Bounds part{before[c][i], after[c][i], slopes[c][i]};
            parts = parts + weighted(component.parts[i].weight, capped(part, component.parts[i].cap));
        }
        sum = sum + weighted(component.weight, capped(parts, component.cap));
    }
    return at_most(at_least(sum, policy_.allows_negative ? -maui_priority_max : 1.), maui_priority_max).slope;
}

Course MoabPriorities::course(JobId id, const Usage& usage) const {
    const Entry& entry = entries_[id.value];
    Course course;
    course.number = [this, &entry, &usage](Instant at) { return number_of(entry, usage, at); };
    course.slope = [this, &entry, &usage](Instant from, Instant to) { return slope_of(entry, usage, from, to); };
    return course;
}

}  // namespace weir
