// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arithmetic of each factor. See factors.hpp.
#include "libsched/priority/factors.hpp"

#include <algorithm>

namespace weir {
namespace {

double at_or_zero(const std::vector<double>& table, std::size_t index) {
    return index < table.size() ? table[index] : 0.;
}

/// Cores of the machine's average node times the job's nodes, or its cores if more, for each minute of its limit.
double part_over_time(const JobInputs& job, double machine_nodes, double machine_cores) {
    const double of_nodes = static_cast<double>(job.extras.nodes) * machine_cores / machine_nodes;
    const double cores = std::max(of_nodes, static_cast<double>(job.cores));
    const double minutes = to_seconds(job.extras.limit) / 60.;
    return cores / minutes / machine_cores;
}

}  // namespace

ClassFactors::ClassFactors(const PrioritySettings& s)
    : qos(class_factors(s.qos_priority, s.is_raw[index_of(Factor::qos)])),
      queue(class_factors(s.queue_priority, s.is_raw[index_of(Factor::queue)])),
      association(
          class_factors(s.association_priority, s.is_raw[index_of(Factor::association)], s.association_priority_max)) {}

double wait_factor(Duration waited, Duration wait_max) {
    const double factor = static_cast<double>(waited.count()) / static_cast<double>(wait_max.count());
    return std::clamp(factor, 0., 1.);
}

std::vector<double> class_factors(const std::vector<double>& priorities, bool is_raw, double given_max) {
    std::vector<double> factors = priorities;
    if (is_raw || priorities.empty()) {
        return factors;
    }
    const double greatest = given_max > 0. ? given_max : *std::max_element(priorities.begin(), priorities.end());
    for (double& factor : factors) {
        factor = greatest > 0. ? factor / greatest : 0.;
    }
    return factors;
}

double size_factor(const PrioritySettings& settings, const JobInputs& job) {
    const double machine_cores = settings.machine_cores;
    const double machine_nodes = settings.machine_nodes;
    const double cores = static_cast<double>(job.cores);
    const double nodes = static_cast<double>(job.extras.nodes);
    double part = 0.;
    // Small is not 1 - large to the last bit, and Slurm subtracts before it divides.
    if (settings.size_rule == SizeRule::over_time) {
        part = part_over_time(job, machine_nodes, machine_cores);
        part = settings.size_favors_large ? part : 1. - part;
    } else if (settings.size_rule == SizeRule::nodes_and_cores) {
        const double counted_nodes = settings.size_favors_large ? nodes : std::max(machine_nodes - nodes, 0.);
        const double counted_cores = settings.size_favors_large ? cores : machine_cores - cores;
        part = counted_nodes / machine_nodes;
        part = job.cores == 0 ? part : (part + counted_cores / machine_cores) / 2.;
    } else {
        part = std::min(cores / machine_cores, 1.);
        part = settings.size_favors_large ? part : 1. - part;
    }
    return std::clamp(part, 0., 1.);
}

double user_factor(const PrioritySettings& settings, const JobInputs& job) {
    if (settings.is_raw[index_of(Factor::user)]) {
        return static_cast<double>(job.urgency) - 16. - static_cast<double>(job.extras.nice);
    }
    return (static_cast<double>(std::clamp<int>(job.urgency, 1, 30)) - 1.) / 29.;
}

double site_factor(const PrioritySettings& settings, const JobInputs& job) {
    return settings.is_raw[index_of(Factor::site)] ? job.extras.site : std::clamp(job.extras.site, 0., 1.);
}

double resource_factor(const PrioritySettings& settings, const JobInputs& job, std::size_t kind) {
    const double amount = job.extras.resources.at(kind);
    if (settings.is_raw[index_of(Factor::resources)]) {
        return amount;
    }
    const std::vector<double>& totals = settings.resources[kind].total;
    const double total = totals.empty() ? 0. : totals[std::min<std::size_t>(job.queue, totals.size() - 1)];
    return total > 0. ? amount / total : 0.;
}

double resources_factor(const PrioritySettings& settings, const JobInputs& job) {
    double sum = 0.;
    for (std::size_t kind = 0; kind < settings.resources.size(); kind++) {
        sum += settings.resources[kind].weight * resource_factor(settings, job, kind);
    }
    return sum;
}

double fixed_factor(Factor factor, const PrioritySettings& settings, const ClassFactors& classes,
                    const JobInputs& job) {
    switch (factor) {
        case Factor::wait:
        case Factor::fairshare:
            return 0.;
        case Factor::qos:
            return at_or_zero(classes.qos, job.qos);
        case Factor::queue:
            return at_or_zero(classes.queue, job.queue);
        case Factor::size:
            return size_factor(settings, job);
        case Factor::user:
            return user_factor(settings, job);
        case Factor::association:
            return at_or_zero(classes.association, job.association);
        case Factor::site:
            return site_factor(settings, job);
        case Factor::resources:
            return resources_factor(settings, job);
    }
    return 0.;
}

}  // namespace weir
