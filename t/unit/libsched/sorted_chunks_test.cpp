// SPDX-License-Identifier: LGPL-3.0-only
// The chunked sequence against std::map: same members, same order, same sums.
#include "libsched/sorted_chunks.hpp"
#include "t/unit/draws.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace weir;

namespace {
struct Item {
    int key;
    int weight;
};
struct Traits {
    static int key(const Item& item) { return item.key; }
    struct Summary {
        std::int64_t weight = 0;
        void add(const Item& item) { weight += item.weight; }
        void remove(const Item& item) { weight -= item.weight; }
    };
};
using Small = SortedChunks<Item, Traits, 4>;
}  // namespace

TEST_CASE("sorted chunks: an empty sequence finds and erases nothing") {
    Small chunks;
    CHECK(chunks.empty());
    CHECK_FALSE(chunks.erase(1));
    CHECK(chunks.find(1) == nullptr);
}

// Kills: split() that forgets to move the weight; erase() that leaves an empty chunk; chunk_for() with lower_bound.
TEST_CASE("sorted chunks: any history gives what an ordered map gives") {
    draw::property("same as std::map", [] {
        Small chunks;
        std::map<int, int> map;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const bool adds = draw::arbitrary<bool>();
            const int raw = draw::arbitrary<int>();
            const int key = raw % 40;
            if (adds) {
                RC_ASSERT(chunks.insert({key, raw}) == map.emplace(key, raw).second);
            } else {
                RC_ASSERT(chunks.erase(key) == (map.erase(key) == 1));
            }
        }
        RC_ASSERT(chunks.size() == map.size());
        auto expected = map.begin();
        std::int64_t sum = 0;
        chunks.walk([&](const Item& item) {
            RC_ASSERT(expected != map.end());
            RC_ASSERT(item.key == expected->first);
            RC_ASSERT(item.weight == expected->second);
            sum += item.weight;
            ++expected;
            return true;
        });
        RC_ASSERT(expected == map.end());
        std::int64_t by_chunk = 0;
        for (const auto& chunk : chunks.chunks()) {
            RC_ASSERT(!chunk.items.empty());
            by_chunk += chunk.summary.weight;
        }
        RC_ASSERT(by_chunk == sum);
    });
}

// Kills: a merge that loses the last, or takes the greater first; a summary left as it was.
TEST_CASE("sorted chunks: new keys for all leave the same items in order") {
    draw::property("rekey = sort", [] {
        const auto weights = draw::several(draw::arbitrary<int>);
        const auto keys = draw::several(draw::arbitrary<int>);
        Small chunks;
        std::map<int, int> map;
        for (std::size_t i = 0; i < weights.size(); i++) {
            chunks.insert({static_cast<int>(i), weights[i] % 100});
        }
        // Distinct: the old key in the last place.
        const auto key_of = [&](int old) {
            const auto i = static_cast<std::size_t>(old);
            return (i < keys.size() ? keys[i] % 5 : 7) * 1000 + old;
        };
        for (std::size_t i = 0; i < weights.size(); i++) {
            map[key_of(static_cast<int>(i))] = weights[i] % 100;
        }
        chunks.rekey([&](Item& item) { item.key = key_of(item.key); });
        std::vector<std::pair<int, int>> seen;
        chunks.walk([&](const Item& item) {
            seen.emplace_back(item.key, item.weight);
            return true;
        });
        const std::vector<std::pair<int, int>> expected(map.begin(), map.end());
        RC_ASSERT(seen == expected);
        for (const auto& chunk : chunks.chunks()) {
            std::int64_t weight = 0;
            for (const Item& item : chunk.items) {
                weight += item.weight;
            }
            RC_ASSERT(weight == chunk.summary.weight);
        }
    });
}
