// SPDX-License-Identifier: LGPL-3.0-only
// Owns: two sorts for the ranking of large trees, one for short and one for very long lists. Sorting takes half of a
// full pass with std::sort, for mispredicted branches and cache misses. Must not know: what is sorted.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir {

/// The most items that sort_few() accepts.
inline constexpr std::size_t few = 16;

/// Stable, at most `few` items. Each item goes to the place given by the number of items before it. No branch depends
/// on a comparison, whereas an insertion sort mispredicts once an item. before: a strict weak order. O(size^2).
template <typename Item, typename Before>
void sort_few(std::span<Item> items, const Before& before) {
    std::array<std::uint32_t, few> places;
    for (std::size_t j = 0; j < items.size(); ++j) {
        std::uint32_t own = 0;
        for (std::size_t i = 0; i < j; ++i) {
            const auto is_before = static_cast<std::uint32_t>(before(items[j], items[i]));
            places[i] += is_before;
            own += 1 - is_before;
        }
        places[j] = own;
    }
    std::array<Item, few> sorted;
    for (std::size_t i = 0; i < items.size(); ++i) {
        sorted[places[i]] = items[i];
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i] = sorted[i];
    }
}

/// Stable, ascending by key_of(item), an unsigned number of so many bytes. O(size * bytes).
template <unsigned bytes, typename Item, typename KeyOf>
void radix_sort(std::vector<Item>& items, const KeyOf& key_of) {
    std::array<std::array<std::uint32_t, 256>, bytes> begin{};
    for (const Item& item : items) {
        auto key = key_of(item);
        for (auto& counts : begin) {
            ++counts[key & 255];
            key >>= 8;
        }
    }
    constexpr std::size_t ahead = 128 / sizeof(Item);
    std::vector<Item> other(items.size());
    for (unsigned byte = 0; byte < bytes; ++byte) {
        std::uint32_t before = 0;
        bool is_one_value = false;
        for (std::uint32_t& at : begin[byte]) {
            const std::uint32_t count = at;
            is_one_value = is_one_value || count == items.size();
            at = before;
            before += count;
        }
        if (is_one_value) {
            continue;
        }
        for (const Item& item : items) {
            const std::uint32_t at = begin[byte][(key_of(item) >> (8 * byte)) & 255]++;
            other[at] = item;
            // Prefetches the line that this run will write next; otherwise most of the time is spent waiting for lines.
            __builtin_prefetch(&other[std::min(at + ahead, items.size() - 1)], 1);
        }
        items.swap(other);
    }
}

}  // namespace weir
