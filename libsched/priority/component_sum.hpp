// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Maui's and Moab's nested sum of priority components with caps, its limits, and the expansion factor.
// Must not know: what the components are. Source: Maui 3.3.1 manual 5.1 (doc/adr/0091-other-systems.md lists what is
// left out).
#pragma once
#include <span>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir {

/// Caps act on the value before the weight, upwards only; 0 or less: none.
struct Subcomponent {
    double weight = 0;
    double value = 0;
    double cap = 0;
};
struct Component {
    double weight = 1;
    double cap = 0;
    std::vector<Subcomponent> parts;
};

/// min(cap, value), or the value where there is no cap.
double bounded(double value, double cap);
/// weight * min(cap, sum of weight * min(cap, value)).
double contribution(const Component& component);
/// The sum of all contributions.
double component_sum(std::span<const Component> components);

/// Maui's limits: at most 1e9, at least 1 unless negative priorities are allowed.
inline constexpr double maui_priority_max = 1e9;
/// `system` is the value of setspri: 0 means none; up to 1e9 it is absolute, above every other job; beyond, it is
/// relative: the difference to 2e9 is added.
double maui_priority(double raw, bool allows_negative, double system = 0);

enum class ExpansionRule {
    manual,   ///< 1 + queued / max(shortest, wall limit): never below 1
    program,  ///< (queued + wall limit) / max(shortest, wall limit), as Maui 3.3.1 computes; the same for longer jobs
};
double expansion_factor(Duration queued, Duration wall_limit, Duration shortest = std::chrono::minutes{2},
                        ExpansionRule rule = ExpansionRule::manual);

/// The target component: (target - current)^-2, which grows without bound near the target; closer than
/// nearness_left_min that distance counts. 0 at the target.
double nearness(double target, double current);
inline constexpr double nearness_left_min = 1e-4;

}  // namespace weir
