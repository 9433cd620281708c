// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share trees that edits have replaced lately. A child reports a job some time after it started; who paid for
// it then pays on, wherever edits have moved his line since. Must not know: how a payer is found in a tree.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::priority {

class EarlierTrees {
  public:
    /// Beyond these the oldest is forgotten.
    static constexpr std::size_t kept = 8;

    /// That tree was in force until `until`. \param moved  by its nodes, who pays in the tree after it
    void keep(ShareTreePtr tree, std::vector<NodeId> moved, Instant until) {
        trees_.push_back({std::move(tree), std::move(moved), until});
        if (trees_.size() > kept) {
            trees_.pop_front();
        }
    }
    /// Whether another tree than that in force was so at that time.
    bool has(Instant at) const { return !trees_.empty() && at <= trees_.back().until; }
    /// Who pays now for what began then. Nothing: no leaf paid then. `find(tree)` is that leaf. O(kept) and find().
    template <typename Find>
    std::optional<NodeId> payer(Instant at, const Find& find) const {
        auto then = std::find_if(trees_.begin(), trees_.end(), [&](const Replaced& tree) { return at <= tree.until; });
        std::optional<NodeId> payer = then == trees_.end() ? std::nullopt : find(*then->tree);
        for (; payer && is_in_tree(*payer) && then != trees_.end(); ++then) {
            payer = then->moved[payer->value];
        }
        return payer;
    }

  private:
    struct Replaced {
        ShareTreePtr tree;
        std::vector<NodeId> moved;
        Instant until;
    };
    std::deque<Replaced> trees_;  ///< the oldest first
};

}  // namespace weir::priority
