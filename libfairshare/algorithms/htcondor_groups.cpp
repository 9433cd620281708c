// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see htcondor_groups.hpp.
#include "libfairshare/algorithms/htcondor_groups.hpp"

#include <algorithm>

#include "libfairshare/algorithms/htcondor.hpp"
#include "libfairshare/base/check.hpp"

namespace weir {

namespace {

/// One negotiation. The root is the node behind the last group.
class Negotiation {
  public:
    Negotiation(std::span<const CondorGroup> groups, double slots, bool allow_oversubscription)
        : groups_(groups),
          root_(groups.size()),
          slots_(slots),
          oversubscribes_(allow_oversubscription),
          nodes_(groups.size() + 1) {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            WEIR_CHECK(!groups[i].parent || *groups[i].parent < i);
            nodes_[groups[i].parent ? *groups[i].parent : root_].children.push_back(i);
            nodes_[i].left = groups[i].wanted;
        }
    }

    std::vector<CondorGroupSlots> run() {
        assign(root_, slots_);
        share(root_);
        regroup();
        std::vector<CondorGroupSlots> made;
        std::transform(nodes_.begin(), nodes_.end() - 1, std::back_inserter(made),
                       [](const Node& node) { return node.slots; });
        return made;
    }

  private:
    struct Node {
        std::vector<std::size_t> children;
        CondorGroupSlots slots;
        double left = 0;          // wanted and not allocated
        double subtree_left = 0;  // with what the children that accept surplus lack
    };

    void assign(std::size_t i, double quota) {
        Node& node = nodes_[i];
        node.slots.subtree_quota = quota;
        double fixed = 0;
        double parts = 0;
        for (const std::size_t child : node.children) {
            if (groups_[child].is_dynamic) {
                parts += groups_[child].quota;
            } else {
                fixed += groups_[child].quota;
            }
        }
        const double for_fixed = oversubscribes_ ? fixed : std::min(fixed, quota);
        const double for_parts = std::max(quota - for_fixed, 0.0);
        double given = 0;
        for (const std::size_t child : node.children) {
            const CondorGroup& group = groups_[child];
            const double own = group.is_dynamic ? group.quota * (for_parts / std::max(parts, 1.0))
                               : fixed > 0      ? group.quota * (for_fixed / fixed)
                                                : 0.0;
            assign(child, own);
            given += own;
        }
        node.slots.own_quota = std::max(quota - given, 0.0);
    }

    /// Allocates to the node and those below it, by quota and from each other; returns what they leave.
    double share(std::size_t i) {
        Node& node = nodes_[i];
        node.slots.allocated = std::min(node.left, node.slots.own_quota);
        node.left -= node.slots.allocated;
        node.subtree_left = node.left;
        double surplus = node.slots.own_quota - node.slots.allocated;
        for (const std::size_t child : node.children) {
            surplus += share(child);
            node.subtree_left += groups_[child].accepts_surplus ? nodes_[child].subtree_left : 0.0;
        }
        return node.children.empty() ? surplus : distribute(i, surplus);
    }

    /// Distributes surplus to the node and its children alike; returns the rest.
    double distribute(std::size_t i, double surplus) {
        Node& node = nodes_[i];
        if (surplus <= 0 || node.subtree_left <= 0) {
            return std::max(surplus, 0.0);
        }
        std::vector<double> quota{node.slots.own_quota};
        std::vector<double> wanted{node.left};
        for (const std::size_t child : node.children) {
            quota.push_back(nodes_[child].slots.subtree_quota);
            wanted.push_back(groups_[child].accepts_surplus ? nodes_[child].subtree_left : 0.0);
        }
        const std::vector<double> gets = dealt(quota, wanted, surplus);
        double given = gets[0];
        for (std::size_t k = 0; k < node.children.size(); ++k) {
            if (gets[k + 1] > 0) {
                distribute(node.children[k], gets[k + 1]);
                given += gets[k + 1];
            }
        }
        node.slots.allocated += gets[0];
        node.left -= gets[0];
        node.subtree_left = std::max(node.subtree_left - given, 0.0);
        return std::max(surplus - given, 0.0);
    }

    /// By quota first; what those with a quota do not want goes equally to those without.
    static std::vector<double> dealt(const std::vector<double>& quota, const std::vector<double>& wanted,
                                     double surplus) {
        std::vector<double> gets(quota.size(), 0.0);
        double left = surplus;
        for (const bool by_quota : {true, false}) {
            std::vector<std::size_t> who;
            std::vector<PieSubmitter> pie;
            for (std::size_t k = 0; k < quota.size(); ++k) {
                if (wanted[k] > 0 && (quota[k] > 0) == by_quota) {
                    who.push_back(k);
                    pie.push_back({by_quota ? 1 / quota[k] : 1.0, wanted[k], 0});
                }
            }
            const std::vector<double> slices = pie_slices(pie, left);
            for (std::size_t k = 0; k < who.size(); ++k) {
                gets[who[k]] = slices[k];
                left = std::max(left - slices[k], 0.0);
            }
        }
        return gets;
    }

    void regroup() {
        double left = slots_;
        std::vector<std::size_t> who;
        std::vector<PieSubmitter> pie;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            left -= nodes_[i].slots.allocated;
            if (groups_[i].regroups && nodes_[i].left > 0) {
                who.push_back(i);
                pie.push_back({groups_[i].effective_priority, nodes_[i].left, 0});
            }
        }
        if (left <= 0) {
            return;
        }
        const std::vector<double> slices = pie_slices(pie, left);
        for (std::size_t k = 0; k < who.size(); ++k) {
            nodes_[who[k]].slots.allocated += slices[k];
            nodes_[who[k]].slots.regrouped = slices[k];
        }
    }

    std::span<const CondorGroup> groups_;
    std::size_t root_;
    double slots_;
    bool oversubscribes_;
    std::vector<Node> nodes_;
};

}  // namespace

std::vector<CondorGroupSlots> negotiate_groups(std::span<const CondorGroup> groups, double slots,
                                               bool allow_oversubscription) {
    return Negotiation{groups, slots, allow_oversubscription}.run();
}

}  // namespace weir
