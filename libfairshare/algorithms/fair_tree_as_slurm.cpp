// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see fair_tree_as_slurm.hpp.
#include "libfairshare/algorithms/fair_tree_as_slurm.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "libfairshare/algorithms/fair_tree.hpp"
#include "libfairshare/algorithms/fair_tree_ranks.hpp"
#include "libfairshare/algorithms/sorting.hpp"

namespace weir {

namespace {

struct LevelItem {
    long double level;
    std::uint32_t place;  // in listed order
    std::uint32_t id;
    bool is_account;
};
/// The root has one share, of a level that slurmctld never sums up: its mark for "no value" stands there.
constexpr double norm_shares_of_root = 1.0 / 4294967294.0;
constexpr long double infinite = std::numeric_limits<long double>::infinity();

bool goes_before(const LevelItem& a, const LevelItem& b) {
    return a.level != b.level ? a.level > b.level : a.is_account != b.is_account ? b.is_account : a.place < b.place;
}

void sort(std::span<LevelItem> list) {
    if (list.size() <= few) {
        sort_few(list, goes_before);
    } else {
        std::sort(list.begin(), list.end(), goes_before);
    }
}

/// The number that slurmctld compares.
struct SlurmLevels {
    const ShareTree& tree;
    std::span<const CoreMicros> usage;

    long double of(NodeId id, NodeId above) const {
        const double norm_shares = tree.norm_shares(id);
        if (norm_shares == 0) {
            return 0;
        }
        const auto used = static_cast<long double>(usage[id.value]);
        return used == 0 ? infinite : norm_shares / (used / static_cast<long double>(usage[above.value]));
    }

    void append_children(NodeId account, NodeId above, std::vector<LevelItem>& list) const {
        for (NodeId child : tree.children(account)) {
            if (tree.kind(child) == NodeKind::any_member) {
                continue;
            }
            const bool is_account = !tree.is_association(child);
            if (is_account && tree.shares_parent(child)) {
                append_children(child, above, list);
                continue;
            }
            const long double level = tree.shares_parent(child) ? infinite : of(child, above);
            list.push_back({level, static_cast<std::uint32_t>(list.size()), child.value, is_account});
        }
    }

    std::vector<LevelItem> sorted_children(NodeId account) const {
        std::vector<LevelItem> list;
        append_children(account, account, list);
        sort(list);
        return list;
    }
};

class Walk {
  public:
    Walk(const ShareTree& tree, std::span<const CoreMicros> usage, Standings& into)
        : levels_{tree, usage}, into_(into), count_(tree.association_count()), next_(count_), rank_(count_) {
        into_.factor.assign(tree.size(), 0.0);
        into_.rank.assign(tree.size(), 0);
        levels_.append_children(root_node, root_node, pool_);
        rank_list(0, false);
    }

  private:
    /// Ranks the list on top of the pool and takes it off. is_tied: its first shares the present rank.
    void rank_list(std::size_t begin, bool is_tied) {
        sort(std::span{pool_}.subspan(begin));
        const std::size_t end = pool_.size();
        for (std::size_t i = begin; i < end; ++i) {
            is_tied = i == begin ? is_tied : pool_[i].level == pool_[i - 1].level;
            const NodeId id{pool_[i].id};
            if (pool_[i].is_account) {
                levels_.append_children(id, id, pool_);
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

    const SlurmLevels levels_;
    Standings& into_;
    std::vector<LevelItem> pool_;  // a stack of lists: the one being ranked, and above it those of its accounts
    std::uint32_t count_;
    std::uint32_t next_;  // the rank of the next association that ties with none
    std::uint32_t rank_;  // the present rank; the first may tie with an account that has no associations
};

/// The walk's way to one association, and the association whose rank it would have.
class OneRank {
  public:
    OneRank(const ShareTree& tree, std::span<const CoreMicros> usage, std::span<const std::uint32_t> associations)
        : tree_(tree), levels_{tree, usage}, associations_(associations) {}

    std::uint32_t rank(NodeId leaf) const {
        for (std::optional<NodeId> at = leaf; at;) {
            const auto [before, is_tied, previous] = look(*at);
            if (!is_tied) {
                return tree_.association_count() - before;
            }
            at = previous;
        }
        return tree_.association_count();  // no tie: the walk's rank before the first
    }

  private:
    struct Place {
        std::uint32_t before = 0;        ///< associations that the walk placed before
        bool is_tied = false;            ///< shares the rank of the one placed last
        std::optional<NodeId> previous;  ///< that one, or the first of its equals
    };

    Place look(NodeId leaf) const {
        Place place;
        NodeId account = root_node;
        for (NodeId step : levels_to(tree_, leaf)) {
            const std::vector<LevelItem> list = levels_.sorted_children(account);
            std::size_t i = 0;
            for (; list[i].id != step.value; ++i) {
                place.before += associations_[list[i].id];
            }
            place.is_tied = i == 0 ? place.is_tied : list[i].level == list[i - 1].level;
            while (i > 0 && associations_[list[i - 1].id] == 0) {
                --i;
            }
            if (i > 0) {
                place.previous = last_of(list, i - 1);
            }
            account = step;
        }
        return place;
    }

    /// The association that the walk places last in item i of a list; of tied users the first.
    NodeId last_of(const std::vector<LevelItem>& list, std::size_t i) const {
        if (!list[i].is_account) {
            while (i > 0 && list[i - 1].level == list[i].level) {
                --i;
            }
            return NodeId{list[i].id};
        }
        const std::vector<LevelItem> below = levels_.sorted_children(NodeId{list[i].id});
        std::size_t last = below.size() - 1;
        while (associations_[below[last].id] == 0) {
            --last;
        }
        return last_of(below, last);
    }

    const ShareTree& tree_;
    SlurmLevels levels_;
    std::span<const std::uint32_t> associations_;
};

}  // namespace

std::uint32_t FairTreeAsSlurm::rank(const ShareTree& tree, std::span<const CoreMicros> usage,
                                    std::span<const std::uint32_t> associations, NodeId leaf) const {
    return OneRank{tree, usage, associations}.rank(leaf);
}

void FairTreeAsSlurm::evaluate(const ShareTree& tree, const Measures& measures, Standings& into) const {
    Walk{tree, measures.usage, into};
}

NodeStanding FairTreeAsSlurm::node_standing(const ShareTree& tree, const Measures& measures, NodeId id) const {
    NodeStanding standing = FairTree{}.node_standing(tree, measures, id);
    const bool is_of_root = id == root_node || (tree.shares_parent(id) && tree.level_parent(id) == root_node);
    standing.norm_shares = is_of_root ? norm_shares_of_root : standing.norm_shares;
    return standing;
}

}  // namespace weir
