// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the search. Taking an item comes before leaving it, so the first leaf is what best fit would do.
#include "libsched/policy/combination.hpp"

#include <algorithm>
#include <limits>

namespace weir {
namespace {

std::int64_t add(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return a > most - b ? most : a + b;
}

struct CombinationSearch {
    const std::vector<Combination::Item>& items;
    std::vector<std::uint64_t> left;  ///< of each bound
    std::vector<std::int64_t> rest;   ///< sum of the values from here on
    std::uint64_t steps_left;
    std::vector<std::size_t> taken;
    std::vector<std::size_t> best;
    std::int64_t best_value = -1;

    bool fits(const Combination::Item& item) const {
        return std::all_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(item.bounds),
                           [&](std::uint64_t cores) { return item.cores <= cores; });
    }
    void take(std::size_t i) {
        taken.push_back(i);
        for (std::size_t b = 0; b < items[i].bounds; b++) {
            left[b] -= items[i].cores;
        }
    }
    /// The item.
    std::size_t leave_last() {
        const std::size_t i = taken.back();
        taken.pop_back();
        for (std::size_t b = 0; b < items[i].bounds; b++) {
            left[b] += items[i].cores;
        }
        return i;
    }

    /// Depth first, without recursion: a node is the length of `taken` and the next item.
    void run() {
        std::int64_t value = 0;
        std::size_t i = 0;
        while (steps_left > 0) {
            steps_left--;
            if (i < items.size() && add(value, rest[i]) > best_value) {
                if (fits(items[i])) {
                    take(i);
                    value = add(value, items[i].value);
                }
                i++;
                continue;
            }
            if (i == items.size() && value > best_value) {
                best_value = value;
                best = taken;
            }
            if (taken.empty()) {
                return;
            }
            i = leave_last();  // back to it
            value = 0;
            for (const std::size_t t : taken) {
                value = add(value, items[t].value);
            }
            i++;
        }
    }
};

}  // namespace

std::vector<std::size_t> Combination::best(const std::vector<Item>& items, std::vector<std::uint64_t> bounds,
                                           std::uint64_t steps_max) {
    CombinationSearch search{items,
                             std::move(bounds),
                             std::vector<std::int64_t>(items.size() + 1, 0),
                             std::max(steps_max, 2 * items.size() + 2),
                             {},
                             {}};
    for (std::size_t i = items.size(); i > 0; i--) {
        search.rest[i - 1] = add(search.rest[i], items[i - 1].value);
    }
    search.run();
    return search.best;
}

}  // namespace weir
