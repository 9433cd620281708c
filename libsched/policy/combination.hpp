// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which of the jobs that fit one by one make the best use of a hole together: a knapsack with two bounds,
// searched by branch and bound. Must not know jobs.
#pragma once
#include <cstdint>
#include <vector>

namespace weir {

class Combination {
  public:
    struct Item {
        std::uint64_t cores;
        bool is_long;  ///< counts against `extra` too
        std::int64_t value;
    };

    /// The items (by place, ascending) whose values add up to most, with cores <= free in all and cores of long ones <=
    /// extra. `items` stand in falling order of value; of equal sums the one that takes earlier items is chosen. At
    /// most `steps_max` branches are looked at: the best found by then, never less than taking each in turn if it fits.
    static std::vector<std::size_t> best(const std::vector<Item>& items, std::uint64_t free, std::uint64_t extra,
                                         std::uint64_t steps_max = 20'000);
};

}  // namespace weir
