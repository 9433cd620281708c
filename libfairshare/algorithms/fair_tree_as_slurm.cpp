// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see fair_tree_as_slurm.hpp.
#include "libfairshare/algorithms/fair_tree_as_slurm.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"

namespace weir {

namespace {

class Walk {
  public:
    Walk(const ShareTree& tree, std::span<const CoreMicros> usage, Standings& into)
        : tree_(tree), usage_(usage), into_(into), count_(tree.association_count()), next_(count_) {
        into_.factor.assign(tree_.size(), 0.0);
        into_.rank.assign(tree_.size(), 0);
        push_children(root_node, root_node);
        rank_list(0, false);
    }

  private:
    struct Item {
        long double level;
        std::uint32_t place;  // in listed order
        std::uint32_t id;
        bool is_account;
    };
    static constexpr long double infinite = std::numeric_limits<long double>::infinity();

    long double level_of(NodeId id, NodeId above) const {
        const double norm_shares = tree_.norm_shares(id);
        if (norm_shares == 0) {
            return 0;
        }
        const auto used = static_cast<long double>(usage_[id.value]);
        return used == 0 ? infinite : norm_shares / (used / static_cast<long double>(usage_[above.value]));
    }

    void push_children(NodeId account, NodeId above) {
        for (NodeId child : tree_.children(account)) {
            if (tree_.kind(child) == NodeKind::any_member) {
                continue;
            }
            const bool is_account = !tree_.is_association(child);
            if (is_account && tree_.shares_parent(child)) {
                push_children(child, above);
                continue;
            }
            const long double level = tree_.shares_parent(child) ? infinite : level_of(child, above);
            pool_.push_back({level, static_cast<std::uint32_t>(pool_.size()), child.value, is_account});
        }
    }

    /// Ranks the list on top of the pool and takes it off. is_tied: its first shares the present rank.
    void rank_list(std::size_t begin, bool is_tied) {
        std::sort(pool_.begin() + static_cast<std::ptrdiff_t>(begin), pool_.end(), [](const Item& a, const Item& b) {
            return a.level != b.level             ? a.level > b.level
                   : a.is_account != b.is_account ? b.is_account
                                                  : a.place < b.place;
        });
        const std::size_t end = pool_.size();
        for (std::size_t i = begin; i < end; ++i) {
            is_tied = i == begin ? is_tied : pool_[i].level == pool_[i - 1].level;
            const NodeId id{pool_[i].id};
            if (pool_[i].is_account) {
                push_children(id, id);
                rank_list(end, is_tied);
                continue;
            }
            rank_ = is_tied ? rank_ : next_;
            into_.rank[id.value] = rank_;
            into_.factor[id.value] = rank_ / static_cast<double>(count_);
            --next_;
        }
        pool_.resize(begin);
    }

    const ShareTree& tree_;
    std::span<const CoreMicros> usage_;
    Standings& into_;
    std::vector<Item> pool_;  // a stack of lists: the one being ranked, and above it those of its accounts
    std::uint32_t count_;
    std::uint32_t next_;      // the rank of the next association that ties with none
    std::uint32_t rank_ = 0;  // the present rank
};

}  // namespace

void FairTreeAsSlurm::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    Walk{tree, measures.usage, into};
}

NodeStanding FairTreeAsSlurm::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    return FairTree{}.node_standing(tree, measures, id);
}

}  // namespace weir
