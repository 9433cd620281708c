// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see standings.hpp.
#include "libfairshare/algorithms/standings.hpp"

#include <utility>

#include "libfairshare/algorithms/sorting.hpp"

namespace weir {

namespace {

struct KeyedItem {
    std::uint32_t key;  // factor in units of 2^-32
    std::uint32_t id;
};

/// The factor in units of 2^-32, to nearest, halves up: in integers, so that nothing is rounded twice.
std::uint64_t whole_units(double factor) {
    return (static_cast<std::uint64_t>(static_cast<std::int64_t>(factor * 0x1p33)) + 1) >> 1;
}

}  // namespace

void rank_by_factor(const ShareTree& tree, Standings& standings) {
    std::vector<KeyedItem> order;
    order.reserve(tree.association_count());
    standings.rank.assign(tree.size(), 0);
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        if (!tree.is_association(NodeId{i})) {
            continue;
        }
        const std::uint64_t units = whole_units(standings.factor[i]);
        if (units >> 32 != 0) {
            standings.rank[i] = tree.association_count();  // factor 1: tied with all others at the top
        } else {
            order.push_back({static_cast<std::uint32_t>(units), i});
        }
    }
    radix_sort<4>(order, [](const KeyedItem& item) { return item.key; });
    std::uint32_t rank = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
        if (i + 1 == order.size() || order[i].key != order[i + 1].key) {
            rank = static_cast<std::uint32_t>(i + 1);
        }
        standings.rank[order[i].id] = rank;
    }
}

}  // namespace weir
