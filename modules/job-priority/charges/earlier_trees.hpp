// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share trees that edits have replaced lately. A child reports a job some time after it started; who paid for
// it then pays on, wherever edits have moved his line since. Must not know: how a payer is found in a tree; revisions.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir::priority {

class EarlierTrees {
  public:
    struct Replaced {
        ShareTreePtr tree;
        std::vector<NodeId> moved;
        Instant until;
    };
    using Trees = std::deque<Replaced>;  ///< the oldest first
    /// Beyond these the oldest is forgotten.
    static constexpr std::size_t kept = 8;

    /// At a start: those that were replaced before it, the last one at `until`. Large trees cost seconds, so `make` is
    /// called when the first job of that time is reported, and for nearly every start never.
    void restore(Instant until, std::function<Trees()> make) {
        restored_until_ = until;
        make_restored_ = std::move(make);
    }
    /// That tree was in force until `until`. \param moved  by its nodes, who pays in the tree after it
    void keep(ShareTreePtr tree, std::vector<NodeId> moved, Instant until) {
        trees_.push_back({std::move(tree), std::move(moved), until});
        if (trees_.size() > kept) {
            trees_.pop_front();
        }
    }
    /// Whether another tree than that in force was so at that time.
    bool has(Instant at) const {
        return trees_.empty() ? make_restored_ && at <= restored_until_ : at <= trees_.back().until;
    }
    /// Who pays now for what began then. Nothing: no leaf paid then. `find(tree)` is that leaf. O(kept) and find().
    template <typename Find>
    std::optional<NodeId> payer(Instant at, const Find& find) {
        if (make_restored_ && at <= restored_until_) {
            const Trees restored = std::exchange(make_restored_, nullptr)();
            trees_.insert(trees_.begin(), restored.begin(), restored.end());
        }
        auto then = std::find_if(trees_.begin(), trees_.end(), [&](const Replaced& tree) { return at <= tree.until; });
        std::optional<NodeId> payer = then == trees_.end() ? std::nullopt : find(*then->tree);
        for (; payer && is_in_tree(*payer) && then != trees_.end(); ++then) {
            payer = then->moved[payer->value];
        }
        return payer;
    }

  private:
    Trees trees_;
    Instant restored_until_{};
    std::function<Trees()> make_restored_;  ///< null: there are none, or they are in trees_
};

}  // namespace weir::priority
