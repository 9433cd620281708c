// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/algorithms/sorting.hpp"
#include "t/unit/draws.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

using namespace weir;

using Item = std::pair<std::uint64_t, int>;  // the key, and the place it had

namespace {

bool by_key(const Item& a, const Item& b) {
    return a.first < b.first;
}

std::vector<Item> items_of(const std::vector<std::uint64_t>& keys) {
    std::vector<Item> items;
    for (const std::uint64_t key : keys) {
        items.emplace_back(key, static_cast<int>(items.size()));
    }
    return items;
}

std::vector<Item> stably_sorted(std::vector<Item> items) {
    std::stable_sort(items.begin(), items.end(), by_key);
    return items;
}

}  // namespace

// Kills: equal items that change places; a place counted twice; the last item left out.
TEST_CASE("sort_few: as a stable sort") {
    draw::property("equal to std::stable_sort", [] {
        const auto keys =
            draw::several([] { return draw::in_range<std::uint64_t>(0, 5); }, std::min(draw::length(), few));
        std::vector<Item> items = items_of(keys);
        sort_few(std::span{items}, by_key);
        RC_ASSERT(items == stably_sorted(items_of(keys)));
    });
}

// Kills: a byte left out though it differs; bytes in the wrong order; one run against the order of the items.
TEST_CASE("radix_sort: as a stable sort") {
    draw::property("equal to std::stable_sort", [] {
        auto keys = draw::several([] {
            return draw::arbitrary<bool>() ? draw::arbitrary<std::uint64_t>()
                                           : draw::element<std::uint64_t>(0, 1, 255, 256, 1U << 22, ~0ULL);
        });
        std::vector<Item> items = items_of(keys);
        radix_sort<8>(items, [](const Item& item) { return item.first; });
        RC_ASSERT(items == stably_sorted(items_of(keys)));
        for (std::uint64_t& key : keys) {
            key %= std::uint64_t{1} << 32;
        }
        items = items_of(keys);
        radix_sort<4>(items, [](const Item& item) { return item.first; });
        RC_ASSERT(items == stably_sorted(items_of(keys)));
    });
}
