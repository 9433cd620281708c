// SPDX-License-Identifier: LGPL-3.0-only
// Owns: judgement of priority settings and the five factors that need no tree. Source: Slurm's priority/multifactor
// (normalisation of QoS, partition and size), Flux's six-term sum (urgency).
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
void judge_classes(std::string_view what, const std::vector<double>& values, std::size_t count_max, std::string& bad) {
    if (values.empty() || values.size() > count_max) {
        bad += std::string("; there may be 1 to ") + std::to_string(count_max) + " entries for " + std::string(what) +
               ", not " + std::to_string(values.size());
    }
    for (std::size_t i = 0; i < values.size(); i++) {
        if (!usable(values[i])) {
            bad += "; the priority of " + std::string(what) + " " + std::to_string(i) + " is " +
                   std::to_string(values[i]) + ": give a number that is not negative";
        }
    }
}

}  // namespace

double weight_of(const PrioritySettings& settings, Factor factor) {
    return settings.weights[static_cast<std::size_t>(factor)];
}

Status validate(const PrioritySettings& settings) {
    std::string bad;
    for (std::size_t i = 0; i < factor_count; i++) {
        if (!usable(settings.weights[i])) {
            bad += std::string("; the weight of ") + factor_names[i] + " is " + std::to_string(settings.weights[i]) +
                   ": give a number that is not negative";
        }
    }
    if (settings.wait_max <= Duration::zero()) {
        bad += "; wait-max must be longer than zero";
    }
    if (settings.machine_cores == 0) {
        bad += "; the machine must have at least one core";
    }
    judge_classes("QoS", settings.qos_priority, 256, bad);
    judge_classes("queue", settings.queue_priority, 65536, bad);
    if (!bad.empty()) {
        return Error{std::errc::invalid_argument, bad.substr(2)};
    }
    return Done{};
}

std::vector<std::string> warnings(const PrioritySettings& settings) {
    std::vector<std::string> out;
    if (std::all_of(settings.weights.begin(), settings.weights.end(), [](double w) { return w == 0.; })) {
        out.emplace_back("all weights are 0: every job gets priority 1 and starts in order of submission");
        return out;
    }
    const double sum = [&] {
        double s = 0.;
        for (const double w : settings.weights) {
            s += w;
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
    if (sum > static_cast<double>(0xFFFFFFFEU)) {
        out.emplace_back("the weights add up to more than 4294967294: the highest priorities are cut off and tie");
    }
    return out;
}

double wait_factor(Duration waited, Duration wait_max) {
    const double factor = static_cast<double>(waited.count()) / static_cast<double>(wait_max.count());
    return std::clamp(factor, 0., 1.);
}

double class_factor(const std::vector<double>& priorities, std::size_t index) {
    const double greatest = *std::max_element(priorities.begin(), priorities.end());
    return index < priorities.size() && greatest > 0. ? priorities[index] / greatest : 0.;
}

std::vector<double> class_factors(const std::vector<double>& priorities) {
    std::vector<double> factors(priorities.size());
    const double greatest = *std::max_element(priorities.begin(), priorities.end());
    for (std::size_t i = 0; i < priorities.size(); i++) {
        factors[i] = greatest > 0. ? priorities[i] / greatest : 0.;
    }
    return factors;
}

double size_factor(const PrioritySettings& settings, std::uint32_t cores) {
    const double part = std::min(static_cast<double>(cores) / static_cast<double>(settings.machine_cores), 1.);
    return settings.size_favors_large ? part : 1. - part;
}

double user_factor(std::uint8_t urgency) {
    return (static_cast<double>(std::clamp<int>(urgency, 1, 30)) - 1.) / 29.;
}

}  // namespace weir
