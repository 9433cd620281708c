// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the water-filling. At each node the children in order of what they ask for a share; each gets what it asks for
// or its part of what is left, whichever is less.
#include "libsched/sim/fair_division.hpp"

#include <algorithm>

namespace weir {

FairDivision::FairDivision(const PartyTree& tree, std::int64_t machine_cores) : cores_(machine_cores) {
    WEIR_CHECK(machine_cores > 0 && machine_cores <= 0xFFFFFFFFLL);
    nodes_.resize(tree.parties.size());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        nodes_[i].parent = tree.parties[i].parent;
        nodes_[i].shares = tree.parties[i].shares;
    }
}

void FairDivision::ask(std::uint32_t party, std::int64_t cores) {
    for (std::uint32_t at = party;; at = nodes_[at].parent) {
        Node& node = nodes_[at];
        node.asked += cores;
        if (at == 0) {
            return;
        }
        if (node.asked > 0 && !node.listed) {
            node.listed = true;
            nodes_[node.parent].active_children.push_back(at);
        }
    }
}

void FairDivision::run(std::uint32_t party, std::int64_t cores) {
    for (std::uint32_t at = party;; at = nodes_[at].parent) {
        nodes_[at].running += cores;
        if (at == 0) {
            return;
        }
    }
}

void FairDivision::divide() {
    active_.clear();
    nodes_[0].entitled = static_cast<double>(std::min(cores_, nodes_[0].asked));
    if (nodes_[0].asked > 0) {
        active_.push_back(0);
    }
    for (std::size_t i = 0; i < active_.size(); ++i) {
        divide_below(active_[i]);
    }
}

void FairDivision::divide_below(std::uint32_t parent) {
    auto& children = nodes_[parent].active_children;
    std::erase_if(children, [&](std::uint32_t at) {
        nodes_[at].listed = nodes_[at].asked > 0;
        return !nodes_[at].listed;
    });
    by_need_.assign(children.begin(), children.end());
    // No more than the machine counts, so that the products are exact in 64 bits.
    const auto need = [&](std::uint32_t of) { return static_cast<std::uint64_t>(std::min(nodes_[of].asked, cores_)); };
    std::sort(by_need_.begin(), by_need_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t x = need(a) * nodes_[b].shares;
        const std::uint64_t y = need(b) * nodes_[a].shares;
        return x != y ? x < y : a < b;
    });
    double left = nodes_[parent].entitled;
    double shares_left = 0;
    for (const std::uint32_t child : by_need_) {
        shares_left += nodes_[child].shares;
    }
    for (const std::uint32_t at : by_need_) {
        Node& child = nodes_[at];
        child.entitled =
            child.shares == 0 ? 0 : std::min(static_cast<double>(need(at)), left * child.shares / shares_left);
        left -= child.entitled;
        shares_left -= child.shares;
        active_.push_back(at);
    }
}

}  // namespace weir
