// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the multifactor policy as the engine's settings, and the engine's index of each class, association and type of
// resource. Must not know: jobs, the users of the engine.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/priority/factors.hpp"

namespace weir {

/// The totals that jobs' sizes and amounts are divided by; 0: none, or unknown.
struct MachineSize {
    std::uint32_t cores = 1;
    std::uint32_t nodes = 1;
    double gpus = 0;
    double memory_gib = 0;
    std::uint32_t node_cores = 0;  ///< of the node that has most; 0: not known
    friend bool operator==(const MachineSize&, const MachineSize&) = default;
};

/// Classes get indices in order of their names, 0 is "none given or unknown"; types of resources in order of theirs.
/// Associations' priorities are left out: association_priorities().
PrioritySettings engine_settings(const PolicySettings& settings, const MachineSize& machine);

/// By node: the priority of the nearest node at or above it that has one, 0 without. O(nodes x depth), O(1) where none
/// has any.
std::vector<double> association_priorities(const PolicySettings& settings, const ShareTree& tree);
double association_priority(const PolicySettings& settings, const ShareTree& tree, NodeId node);
/// The divisor of the priorities: the greatest one of all.
double association_priority_max(const PolicySettings& settings);

/// `amount(name)` for each type of resource that has a weight, at its index.
template <typename Amount>
std::array<double, resource_kinds_max> resource_amounts(const PolicySettings& settings, Amount amount) {
    std::array<double, resource_kinds_max> out{};
    std::size_t index = 0;
    for (const auto& [name, rule] : settings.resources) {
        if (index < out.size()) {
            out[index++] = amount(name);
        }
    }
    return out;
}

/// The engine's index of a class's name; 0 for names without a priority.
class ClassIndex {
  public:
    ClassIndex() = default;
    /// `limit`: the greatest index.
    ClassIndex(const std::map<std::string, double>& priorities, std::size_t limit);
    std::size_t of(const std::string& name) const;
    std::vector<double> priorities() const;

  private:
    std::map<std::string, std::size_t> index_;
    std::vector<double> priority_{0.};
};
inline constexpr std::size_t qos_classes_max = 255;
inline constexpr std::size_t queue_classes_max = 65535;

}  // namespace weir
