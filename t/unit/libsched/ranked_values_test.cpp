// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/order/ranked_values.hpp"
#include "t/unit/draws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace weir;

// Kills: a value kept that is not below the one before it; the gap's ends given out; a crowded gap left crowded;
// forget() forgetting nothing (an id used again would keep another job's value).
TEST_CASE("ranked values: sorting by value gives the order, whatever comes and goes") {
    draw::property("after each change", [] {
        RankedValues ranks;
        std::vector<JobId> order;
        std::map<JobId, std::uint32_t> told;
        for (int step = draw::in_range(1, 200); step > 0; step--) {
            const auto kind = draw::in_range(0, 6);
            if (kind < 3) {
                JobId fresh{0};
                while (std::find(order.begin(), order.end(), fresh) != order.end()) {
                    fresh.value++;
                }
                const std::size_t place = kind == 0   ? order.size()
                                          : kind == 1 ? std::min<std::size_t>(1, order.size())  // crowds one gap
                                                      : draw::in_range<std::size_t>(0, order.size() + 1);
                order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), fresh);
            } else if (kind == 3 && !order.empty()) {
                const auto gone = draw::in_range<std::size_t>(0, order.size());
                ranks.forget(order[gone]);
                told.erase(order[gone]);
                order.erase(order.begin() + static_cast<std::ptrdiff_t>(gone));
            } else if (kind == 4 && order.size() > 1) {
                std::swap(order.front(), order.back());
            }
            std::vector<std::pair<JobId, std::uint32_t>> changed;
            ranks.assign(order, changed);
            for (const auto& [id, value] : changed) {
                told[id] = value;
            }
            for (std::size_t i = 0; i < order.size(); i++) {
                RC_ASSERT(told.count(order[i]) == 1U);
                RC_ASSERT(told[order[i]] >= priority_min);
                RC_ASSERT(told[order[i]] <= priority_max);
                if (i > 0) {  // RC_ASSERT evaluates both sides of an ||
                    RC_ASSERT(told[order[i - 1]] > told[order[i]]);
                }
            }
        }
    });
}

// Kills: all numbered anew at each change.
TEST_CASE("ranked values: who comes last or first changes nobody else") {
    RankedValues ranks;
    std::vector<std::pair<JobId, std::uint32_t>> changed;
    std::vector<JobId> order;
    for (std::uint64_t i = 0; i < 10'000; i++) {
        order.push_back(JobId{i});
        ranks.assign(order, changed);
    }
    CHECK(changed.size() == 10'000);
}
