// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the translation. See engine_settings.hpp.
#include "libsched/config/engine_settings.hpp"

#include <algorithm>

namespace weir {
namespace {

double total_of(const std::string& name, const ResourceRule& rule, const MachineSize& machine) {
    return rule.total         ? *rule.total
           : name == "cores"  ? machine.cores
           : name == "nodes"  ? machine.nodes
           : name == "gpus"   ? machine.gpus
           : name == "memory" ? machine.memory_gib
                              : 0.;
}

}  // namespace

PrioritySettings engine_settings(const PolicySettings& settings, const MachineSize& machine) {
    PrioritySettings engine;
    const Weights& w = settings.weights;
    engine.weights = {w.wait, w.fairshare, w.qos, w.queue, w.size, w.user, w.association, w.site, w.resources};
    engine.wait_max = settings.wait_max;
    engine.qos_priority = ClassIndex(settings.qos, qos_classes_max).priorities();
    engine.queue_priority = ClassIndex(settings.queues, queue_classes_max).priorities();
    engine.association_priority_max = association_priority_max(settings);
    engine.size_favors_large = settings.is_large_favored;
    engine.size_rule = settings.size_rule;
    engine.rounding = settings.rounding;
    for (const Factor factor : raw_factor_names) {
        engine.is_raw[index_of(factor)] = settings.raw_factors.contains(factor_names[index_of(factor)]);
    }
    engine.only_raises = settings.only_raises;
    engine.machine_cores = std::max(1U, machine.cores);
    engine.machine_nodes = std::max(1U, machine.nodes);
    for (const auto& [name, rule] : settings.resources) {
        engine.resources.push_back({name, rule.weight, {total_of(name, rule, machine)}});
    }
    return engine;
}

double association_priority(const PolicySettings& settings, const ShareTree& tree, NodeId node) {
    for (; node != root_node; node = tree.parent(node)) {
        if (const auto found = settings.associations.find(tree.path(node)); found != settings.associations.end()) {
            return found->second;
        }
    }
    return 0.;
}

std::vector<double> association_priorities(const PolicySettings& settings, const ShareTree& tree) {
    std::vector<double> out;
    for (std::uint32_t node = 0; node < tree.size() && !settings.associations.empty(); node++) {
        out.push_back(association_priority(settings, tree, NodeId{node}));
    }
    return out;
}

double association_priority_max(const PolicySettings& settings) {
    double greatest = 0.;
    for (const auto& [path, priority] : settings.associations) {
        greatest = std::max(greatest, priority);
    }
    return greatest;
}

ClassIndex::ClassIndex(const std::map<std::string, double>& priorities, std::size_t limit) {
    for (const auto& [name, priority] : priorities) {
        if (index_.size() == limit) {
            break;
        }
        index_.emplace(name, index_.size() + 1);
        priority_.push_back(priority);
    }
}

std::size_t ClassIndex::of(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? 0 : found->second;
}

std::vector<double> ClassIndex::priorities() const {
    return priority_;
}

}  // namespace weir
