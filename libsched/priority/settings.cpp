// SPDX-License-Identifier: LGPL-3.0-only
// Owns: checks of priority settings. See settings.hpp.
#include "libsched/priority/settings.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace weir {
namespace {

bool usable(double value) {
    return std::isfinite(value) && value >= 0.;
}
bool all_equal_zero(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return v == 0.; });
}
void check_count(std::string_view what, std::size_t count, std::size_t count_max, std::string& bad) {
    if (count == 0 || count > count_max) {
        bad += std::string("; there may be 1 to ") + std::to_string(count_max) + " entries for " + std::string(what) +
               ", not " + std::to_string(count);
    }
}
void check_classes(std::string_view what, const std::vector<double>& values, std::string& bad) {
    for (std::size_t i = 0; i < values.size(); i++) {
        if (!usable(values[i])) {
            bad += "; the priority of " + std::string(what) + " " + std::to_string(i) + " is " +
                   std::to_string(values[i]) + ": give a number that is not negative";
        }
    }
}

void check_resources(const PrioritySettings& settings, std::string& bad) {
    if (settings.resources.size() > resource_kinds_max) {
        bad += "; at most " + std::to_string(resource_kinds_max) + " resource types can have a weight, not " +
               std::to_string(settings.resources.size());
    }
    for (const ResourceWeight& resource : settings.resources) {
        if (!std::isfinite(resource.weight)) {
            bad += "; the weight of resource " + resource.name + " must be a finite number";
        }
        if (!std::all_of(resource.total.begin(), resource.total.end(), usable)) {
            bad += "; every total of resource " + resource.name + " must be a number that is not negative";
        }
    }
}
/// Those that have a form besides their part of the greatest.
bool can_be_raw(Factor factor) {
    return factor != Factor::wait && factor != Factor::fairshare && factor != Factor::size;
}

}  // namespace

double weight_of(const PrioritySettings& settings, Factor factor) {
    return settings.weights[index_of(factor)];
}

Status validate(const PrioritySettings& settings) {
    std::string bad;
    for (std::size_t i = 0; i < factor_count; i++) {
        if (!usable(settings.weights[i])) {
            bad += std::string("; the weight of ") + factor_names[i] + " is " + std::to_string(settings.weights[i]) +
                   ": give a number that is not negative";
        }
        if (settings.is_raw[i] && !can_be_raw(static_cast<Factor>(i))) {
            bad += std::string("; ") + factor_names[i] + " is always normalised";
        }
    }
    if (settings.wait_max <= Duration::zero()) {
        bad += "; wait-max must be longer than zero";
    }
    if (settings.machine_cores == 0) {
        bad += "; the machine must have at least one core";
    }
    if (settings.machine_nodes == 0) {
        bad += "; the machine must have at least one node";
    }
    if (settings.ceiling < priority_min) {
        bad += "; the ceiling must be at least 1: 0 would hold every job";
    }
    check_count("QoS", settings.qos_priority.size(), 256, bad);
    check_count("queue", settings.queue_priority.size(), 65536, bad);
    check_classes("QoS", settings.qos_priority, bad);
    check_classes("queue", settings.queue_priority, bad);
    check_classes("association", settings.association_priority, bad);
    check_resources(settings, bad);
    if (!bad.empty()) {
        return Error{std::errc::invalid_argument, bad.substr(2)};
    }
    return Done{};
}

std::vector<std::string> warnings(const PrioritySettings& settings) {
    std::vector<std::string> out;
    const bool has_resources =
        std::any_of(settings.resources.begin(), settings.resources.end(), [](const auto& r) { return r.weight != 0.; });
    const auto end_of_simple = settings.weights.begin() + index_of(Factor::resources);
    if (!has_resources && std::all_of(settings.weights.begin(), end_of_simple, [](double w) { return w == 0.; })) {
        out.emplace_back("all weights are 0: every job gets priority 1 and starts in order of submission");
        return out;
    }
    const double sum = [&] {
        double s = 0.;
        for (std::size_t i = 0; i < index_of(Factor::resources); i++) {
            s += settings.weights[i];
        }
        return s;
    }();
    for (std::size_t i = 0; i < factor_count; i++) {
        const double weight = settings.weights[i];
        if (weight > 0. && weight < 0.5) {
            out.push_back(std::string("the weight of ") + factor_names[i] +
                          " is less than 0.5: after rounding it can only break ties of other terms");
        }
    }
    const auto idle_class = [&](Factor factor, const char* name, const std::vector<double>& priorities) {
        if (weight_of(settings, factor) > 0. && priorities.size() > 1 && all_equal_zero(priorities)) {
            out.push_back(std::string("every ") + name + " has priority 0: the weight of " + name + " has no effect");
        }
        if (weight_of(settings, factor) == 0. && !all_equal_zero(priorities)) {
            out.push_back(std::string("the weight of ") + name + " is 0: the priorities given to them have no effect");
        }
    };
    idle_class(Factor::qos, "qos", settings.qos_priority);
    idle_class(Factor::queue, "queue", settings.queue_priority);
    if (weight_of(settings, Factor::association) > 0. && all_equal_zero(settings.association_priority)) {
        out.emplace_back("no association has a priority: the weight of association has no effect");
    }
    if (weight_of(settings, Factor::resources) == 0. && has_resources) {
        out.emplace_back("the weight of resources is 0: the weights of their types have no effect");
    }
    for (const ResourceWeight& resource : settings.resources) {
        if (!settings.is_raw[index_of(Factor::resources)] && all_equal_zero(resource.total)) {
            out.push_back("nothing has any " + resource.name + ": its weight has no effect");
        }
    }
    if (sum > static_cast<double>(priority_max)) {
        out.emplace_back("the weights add up to more than 4294967294: the highest priorities are cut off and tie");
    }
    return out;
}

}  // namespace weir
