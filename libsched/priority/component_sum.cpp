// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see component_sum.hpp.
#include "libsched/priority/component_sum.hpp"

#include <algorithm>

namespace weir {

double bounded(double value, double cap) {
    return cap > 0 ? std::min(value, cap) : value;
}

double contribution(const Component& component) {
    double sum = 0;
    for (const Subcomponent& part : component.parts) {
        sum += part.weight * bounded(part.value, part.cap);
    }
    return component.weight * bounded(sum, component.cap);
}

double component_sum(std::span<const Component> components) {
    double sum = 0;
    for (const Component& component : components) {
        sum += contribution(component);
    }
    return sum;
}

double maui_priority(double raw, bool allows_negative, double system) {
    if (system > 0 && system <= maui_priority_max) {
        return maui_priority_max + system;
    }
    const double moved = system > maui_priority_max ? raw + (system - 2 * maui_priority_max) : raw;
    const double least = allows_negative ? -maui_priority_max : 1.0;
    return std::clamp(moved, least, maui_priority_max);
}

double expansion_factor(Duration queued, Duration wall_limit, Duration shortest, ExpansionRule rule) {
    const Duration limit = std::max({wall_limit, shortest, Duration{1}});
    const Duration own = rule == ExpansionRule::manual ? limit : wall_limit;
    return to_seconds(std::max(queued, Duration{0}) + own) / to_seconds(limit);
}

double nearness(double target, double current) {
    const double left = std::max(target - current, nearness_left_min);
    return target > 0 ? 1 / (left * left) : 0.;
}

}  // namespace weir
