// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see deserved_shares.hpp.
#include "libfairshare/algorithms/deserved_shares.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weir {

namespace {

using U128 = unsigned __int128;

struct Sibling {
    std::uint32_t id;
    std::uint32_t shares;
    std::uint64_t wanted;
};

class Pouring {
  public:
    Pouring(const ShareTree& tree, std::span<const std::uint64_t> demand, std::uint64_t capacity) : tree_(tree) {
        const bool is_known = capacity != 0;
        capacity = std::max<std::uint64_t>(capacity, 1);
        made_.fraction_bits = 47 - static_cast<unsigned>(std::bit_width(capacity));
        made_.amount.assign(tree.size(), 0);
        made_.level_sum.assign(tree.size(), 0);
        wanted_.assign(tree.size(), 0);
        const std::uint64_t all = capacity << made_.fraction_bits;
        for (std::uint32_t i = tree.size(); i-- > 1;) {
            const NodeId id{i};
            if (tree.is_association(id) && demand[i] != 0) {
                wanted_[i] = is_known ? std::min(demand[i], capacity) << made_.fraction_bits : all;
            }
            if (tree.shares(id) != 0 || tree.shares_parent(id)) {  // a node without shares gets nothing
                std::uint64_t& above = wanted_[tree.parent(id).value];
                above = std::min(above + wanted_[i], all);
            }
        }
        made_.amount[0] = wanted_[0];
        for (std::uint32_t i = 0; i < tree.size(); ++i) {
            const NodeId id{i};
            if (!tree.is_association(id) && (i == 0 || !tree.shares_parent(id))) {
                pour(id);
            }
        }
    }

    DeservedShares take() { return std::move(made_); }

  private:
    void gather(NodeId account) {
        for (NodeId child : tree_.children(account)) {
            if (tree_.kind(child) == NodeKind::any_member) {
                continue;
            }
            if (!tree_.shares_parent(child)) {
                siblings_.push_back({child.value, tree_.shares(child), wanted_[child.value]});
            } else if (!tree_.is_association(child)) {
                gather(child);
            } else {
                first_.push_back({child.value, 1, wanted_[child.value]});
            }
        }
    }

    void pour(NodeId account) {
        siblings_.clear();
        first_.clear();
        gather(account);
        const std::uint64_t left = fill(first_, made_.amount[account.value]);
        fill(siblings_, left);
        for (const Sibling& each : siblings_) {
            made_.level_sum[account.value] += made_.amount[each.id];
        }
    }

    /// Divides `amount` among the siblings; returns the part without demand.
    std::uint64_t fill(std::vector<Sibling>& siblings, std::uint64_t amount) {
        std::erase_if(siblings, [](const Sibling& each) { return each.shares == 0 || each.wanted == 0; });
        std::sort(siblings.begin(), siblings.end(), [](const Sibling& a, const Sibling& b) {
            const U128 left = U128{a.wanted} * b.shares;
            const U128 right = U128{b.wanted} * a.shares;
            return left != right ? left < right : a.id < b.id;
        });
        std::uint64_t shares = 0;
        for (const Sibling& each : siblings) {
            shares += each.shares;
        }
        // Nodes with the least demand for their shares are filled first; after the first one that is not filled, none
        // is.
        auto at = siblings.begin();
        for (; at != siblings.end() && U128{at->wanted} * shares <= U128{amount} * at->shares; ++at) {
            made_.amount[at->id] = at->wanted;
            amount -= at->wanted;
            shares -= at->shares;
        }
        const std::uint64_t open = amount;
        for (; at != siblings.end(); ++at) {
            const auto part = static_cast<std::uint64_t>(U128{open} * at->shares / shares);
            made_.amount[at->id] = part;
            amount -= part;
        }
        return amount;
    }

    const ShareTree& tree_;
    DeservedShares made_;
    std::vector<std::uint64_t> wanted_;  // by NodeId, in the units of made_
    std::vector<Sibling> siblings_, first_;
};

}  // namespace

double DeservedShares::cores(NodeId id) const {
    return std::ldexp(static_cast<double>(amount[id.value]), -static_cast<int>(fraction_bits));
}

DeservedShares deserved_shares(const ShareTree& tree, std::span<const std::uint64_t> demand, std::uint64_t capacity) {
    return Pouring{tree, demand, capacity}.take();
}

}  // namespace weir
