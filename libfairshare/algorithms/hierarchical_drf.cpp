// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see hierarchical_drf.hpp.
#include "libfairshare/algorithms/hierarchical_drf.hpp"

#include <algorithm>
#include <optional>

namespace weir {

namespace {

using U128 = unsigned __int128;
using Parts = std::vector<std::uint64_t>;  // of each resource, in units of 2^-40

constexpr unsigned part_bits = 40;

class Filling {
  public:
    Filling(const ShareTree& tree, std::span<const TaskDemand> demand, std::span<const std::uint64_t> capacity)
        : tree_(tree), demand_(demand), capacity_(capacity), free_(capacity.begin(), capacity.end()) {
        children_.resize(tree.size());
        nodes_.assign(tree.size(), Node{Parts(capacity.size(), 0), 0, 0, false});
        tasks_.assign(tree.size(), 0);
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            const NodeId id{i};
            const bool is_level = tree.is_association(id) || !tree.shares_parent(id);
            nodes_[i].shares = tree.shares_parent(id) ? 1 : tree.shares(id);
            if (tree.kind(id) != NodeKind::any_member && is_level && nodes_[i].shares != 0) {
                children_[tree.level_parent(id).value].push_back(i);
            }
        }
    }

    std::vector<std::uint64_t> run() {
        while (const auto leaf = next()) {
            ++tasks_[*leaf];
            for (std::size_t r = 0; r < free_.size(); ++r) {
                free_[r] -= demand_[*leaf].each[r];
            }
        }
        return std::move(tasks_);
    }

  private:
    struct Node {
        Parts parts;             // as its parent sees them
        std::uint64_t dominant;  // the greatest of them
        std::uint32_t shares;
        bool is_blocked;
    };

    void measure_leaf(std::uint32_t id) {
        Node& node = nodes_[id];
        const TaskDemand& wanted = demand_[id];
        node.is_blocked = tasks_[id] >= wanted.tasks;
        if (tasks_[id] == 0 && node.is_blocked) {
            return;  // requests no tasks, so its task size is not needed
        }
        for (std::size_t r = 0; r < free_.size(); ++r) {
            node.parts[r] = static_cast<std::uint64_t>((U128{tasks_[id]} * wanted.each[r] << part_bits) / capacity_[r]);
            node.is_blocked = node.is_blocked || wanted.each[r] > free_[r];
        }
    }

    /// The child with the least dominant share for its shares, of those not blocked.
    std::optional<std::uint32_t> least(std::uint32_t account) const {
        std::optional<std::uint32_t> found;
        for (const std::uint32_t child : children_[account]) {
            const Node& one = nodes_[child];
            if (!one.is_blocked &&
                (!found || U128{one.dominant} * nodes_[*found].shares < U128{nodes_[*found].dominant} * one.shares)) {
                found = child;
            }
        }
        return found;
    }

    void measure(std::uint32_t id) {
        Node& node = nodes_[id];
        if (tree_.is_association(NodeId{id})) {
            measure_leaf(id);
        } else {
            for (const std::uint32_t child : children_[id]) {
                measure(child);
            }
            const auto lowest = least(id);
            node.is_blocked = !lowest;
            std::fill(node.parts.begin(), node.parts.end(), 0);
            for (const std::uint32_t child : children_[id]) {
                add_scaled(nodes_[child], lowest ? &nodes_[*lowest] : nullptr, node.parts);
            }
        }
        node.dominant = *std::max_element(node.parts.begin(), node.parts.end());
    }

    /// Scaled down to the dominant share that `lowest` has for its shares; as it is where that is no less.
    static void add_scaled(const Node& child, const Node* lowest, Parts& into) {
        U128 above = 1;
        U128 below = 1;
        if (lowest != nullptr && U128{child.dominant} * lowest->shares > U128{lowest->dominant} * child.shares) {
            above = U128{lowest->dominant} * child.shares;
            below = U128{child.dominant} * lowest->shares;
        }
        for (std::size_t r = 0; r < into.size(); ++r) {
            // parts below 2^41 and a ratio below 1: 41 + 41 + 32 bits
            into[r] += static_cast<std::uint64_t>(child.parts[r] * above / below);
        }
    }

    std::optional<std::uint32_t> next() {
        measure(root_node.value);
        std::optional<std::uint32_t> at = root_node.value;
        while (at && !tree_.is_association(NodeId{*at})) {
            at = least(*at);
        }
        return at;
    }

    const ShareTree& tree_;
    std::span<const TaskDemand> demand_;
    std::span<const std::uint64_t> capacity_;
    std::vector<std::uint64_t> free_;  // by resource
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<Node> nodes_;
    std::vector<std::uint64_t> tasks_;
};

}  // namespace

std::vector<std::uint64_t> hierarchical_drf(const ShareTree& tree, std::span<const TaskDemand> demand,
                                            std::span<const std::uint64_t> capacity) {
    return Filling{tree, demand, capacity}.run();
}

}  // namespace weir
