// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see standings.hpp.
#include "libfairshare/algorithms/standings.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace weir {

namespace {

/// A factor in units of 2^-32, and whose it is.
using Item = std::pair<std::uint64_t, std::uint32_t>;

/// Ascending: three passes of eleven bits.
void radix_sort(std::vector<Item>& items) {
    std::vector<Item> other(items.size());
    for (unsigned shift = 0; shift < 33; shift += 11) {
        std::array<std::uint32_t, 2049> begin{};
        for (const Item& item : items) {
            ++begin[((item.first >> shift) & 2047) + 1];
        }
        for (std::size_t i = 1; i < begin.size(); ++i) {
            begin[i] += begin[i - 1];
        }
        for (const Item& item : items) {
            other[begin[(item.first >> shift) & 2047]++] = item;
        }
        items.swap(other);
    }
}

}  // namespace

void rank_by_factor(const ShareTree& tree, Standings& standings) {
    std::vector<Item> order;
    order.reserve(tree.association_count());
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        if (tree.is_association(NodeId{i})) {
            order.emplace_back(static_cast<std::uint64_t>(std::llround(standings.factor[i] * 0x1p32)), i);
        }
    }
    radix_sort(order);
    standings.rank.assign(tree.size(), 0);
    for (std::size_t i = order.size(); i-- > 0;) {
        const bool is_tied = i + 1 < order.size() && order[i].first == order[i + 1].first;
        standings.rank[order[i].second] =
            is_tied ? standings.rank[order[i + 1].second] : static_cast<std::uint32_t>(i + 1);
    }
}

}  // namespace weir
