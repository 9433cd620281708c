// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the walk that all exact Fair Trees share: siblings by level FS, ties merged, ranks from N down. Internal. It
// sorts by a double first; where two doubles are too close, the exact ratios decide, because Fair Tree depends on ties.
// Must not know what the shares are: the tree's own, or those left by demand.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"
#include "libfairshare/algorithms/sorting.hpp"

namespace weir {

/// One walk of the tree. `Shares` has the shares of a node and their sum over its level: of(NodeId) -> std::uint64_t
/// below 2^48, sum(NodeId level_parent) -> std::uint64_t below 2^48.
template <typename Shares>
class FairTreeWalk {
  public:
    FairTreeWalk(const ShareTree& tree, const Shares& shares, std::span<const CoreMicros> usage, const FairTree& rule,
                 Standings& into)
        : tree_(tree), shares_(shares), usage_(usage), rule_(rule), into_(into), next_(tree.association_count()) {}

    void run() {
        into_.factor.assign(tree_.size(), 0.0);
        into_.rank.assign(tree_.size(), 0);
        scale_ = 1.0 / std::max(tree_.association_count(), 1U);
        push_children(root_node);
        rank_list(0, false);
    }

  private:
    static constexpr std::size_t many = 4096;  // from here on a radix sort is faster
    struct Item {
        double level;  // nearest doubles of the level FS, off by less than 2^-50 of itself; 0 and infinity are exact
        std::uint32_t id;
        bool is_account;
    };

    LevelFs level_of(const Item& item) const {
        const NodeId above = tree_.level_parent(NodeId{item.id});
        return {shares_.of(NodeId{item.id}), shares_.sum(above), usage_[item.id], usage_[above.value]};
    }

    /// An account's children, where an account with `parent` shares is replaced by its own children.
    void push_children(NodeId account) {
        const auto sum = static_cast<double>(shares_.sum(account));
        push_children(account, sum > 0 ? usage_as_double(usage_[account.value]) / sum : 0.0);
    }

    void push_children(NodeId account, double usage_per_share) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        for (NodeId child : tree_.children(account)) {
            const bool is_account = !tree_.is_association(child);
            const std::uint64_t shares = shares_.of(child);
            const CoreMicros used = usage_[child.value];
            if (tree_.kind(child) == NodeKind::any_member) {
                continue;
            }
            if (!tree_.shares_parent(child)) {
                const double level = shares == 0 ? 0.0
                                     : used == 0
                                         ? infinite
                                         : static_cast<double>(shares) * usage_per_share / usage_as_double(used);
                pool_.push_back({level, child.value, is_account});
            } else if (is_account) {
                push_children(child, usage_per_share);
            } else {
                pool_.push_back({infinite, child.value, false});
            }
        }
    }

    static bool is_exact(double level) { return level == 0.0 || level == std::numeric_limits<double>::infinity(); }

    /// Whether the doubles of a list sorted downwards leave the order of two neighbours open.
    static bool is_close(const Item& higher, const Item& lower) {
        return is_exact(higher.level) || is_exact(lower.level) ? higher.level == lower.level
                                                               : higher.level <= lower.level * (1.0 + 0x1p-47);
    }

    bool is_tied(const Item& a, const Item& b) const {
        return is_close(a, b) && (is_exact(a.level) || std::is_eq(compare(level_of(a), level_of(b))));
    }

    void sort_by_doubles(std::size_t begin) {
        const auto goes_before = [](const Item& a, const Item& b) { return a.level > b.level; };
        const std::span list = std::span{pool_}.subspan(begin);
        if (list.size() <= few) {
            sort_few(list, goes_before);
        } else if (list.size() < many) {
            std::sort(list.begin(), list.end(), goes_before);
        } else {
            std::vector<Item> sorted(list.begin(), list.end());
            radix_sort<8>(sorted, [](const Item& item) { return ~std::bit_cast<std::uint64_t>(item.level); });
            std::copy(sorted.begin(), sorted.end(), list.begin());
        }
    }

    /// Descending level FS; ties in any order.
    void sort(std::size_t begin) {
        sort_by_doubles(begin);
        for (auto at = pool_.begin() + static_cast<std::ptrdiff_t>(begin); at != pool_.end();) {
            auto end = at + 1;
            while (end != pool_.end() && is_close(*(end - 1), *end)) {
                ++end;
            }
            if (end - at > 1 && !is_exact(at->level)) {
                std::sort(at, end, [this](const Item& a, const Item& b) {
                    return std::is_gt(compare(level_of(a), level_of(b)));
                });
            }
            at = end;
        }
    }

    /// Ranks the list on top of the pool and takes it off. is_tied_above: its first group shares the present rank.
    void rank_list(std::size_t begin, bool is_tied_above) {
        sort(begin);
        const std::size_t end = pool_.size();
        for (std::size_t group = begin; group < end;) {
            std::size_t next = group + 1;
            while (next < end && is_tied(pool_[group], pool_[next])) {
                ++next;
            }
            std::size_t users = 0;
            for (std::size_t i = group; i < next; ++i) {
                if (!pool_[i].is_account) {
                    place(pool_[i].id, is_tied_above);
                    is_tied_above = true;
                    ++users;
                }
            }
            if (users < next - group) {
                for (std::size_t i = group; i < next; ++i) {
                    if (pool_[i].is_account) {
                        push_children(NodeId{pool_[i].id});
                    }
                }
                rank_list(end, is_tied_above && !rule_.users_before_tied_accounts);
            }
            is_tied_above = false;
            group = next;
        }
        pool_.resize(begin);
    }

    void place(std::uint32_t id, bool shares_rank) {
        if (!shares_rank) {
            rank_ = next_;
        }
        into_.rank[id] = rank_;
        into_.factor[id] = rank_ * scale_;
        --next_;
    }

    const ShareTree& tree_;
    const Shares& shares_;
    std::span<const CoreMicros> usage_;
    const FairTree& rule_;
    Standings& into_;
    std::vector<Item> pool_;  // a stack of lists: the one being ranked, and above it those of its accounts
    std::uint32_t next_;      // the rank of the next association that ties with none
    std::uint32_t rank_ = 0;  // the present rank
    double scale_ = 1.0;
};

}  // namespace weir
