// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a small log for tests of replays on a machine of four cores.
#pragma once
#include <vector>

#include "t/unit/libsched/workload.hpp"

namespace weir::test {

/// One job each `gap_s` seconds, of 20 to 69 s (limit 90 s) and 1 to 4 cores; three users in two groups.
inline std::vector<SimJob> made_log(int count, int gap_s = 7) {
    std::vector<SimJob> jobs;
    for (int i = 0; i < count; ++i) {
        const auto number = static_cast<std::uint32_t>(i);
        jobs.push_back(SimJob{i, at(i * gap_s), secs(20 + i * 13 % 50), secs(90), 1 + number * 5 % 4, 1 + number % 3,
                              1 + number % 2});
    }
    return jobs;
}

}  // namespace weir::test
