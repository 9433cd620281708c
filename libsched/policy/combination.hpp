// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the choice of jobs that together make the best use of a hole: a knapsack with several bounds, solved by branch
// and bound. Must not know jobs.
#pragma once
#include <cstdint>
#include <vector>

namespace weir {

class Combination {
  public:
    struct Item {
        std::uint64_t cores;
        std::size_t bounds;  ///< counts against so many of them, the first ones
        std::int64_t value;
    };

    /// The items (by place, ascending) with the greatest sum of values, of which those that count against a bound have
    /// at most so many cores together. `items` are sorted by descending value; of equal sums the one with earlier items
    /// is chosen. At most `steps_max` branches are searched; the result is the best found by then, and never worse than
    /// taking each item in turn if it fits.
    static std::vector<std::size_t> best(const std::vector<Item>& items, std::vector<std::uint64_t> bounds,
                                         std::uint64_t steps_max = 20'000);
};

}  // namespace weir
