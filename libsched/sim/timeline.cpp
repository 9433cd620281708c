// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the three orders of a timeline.
#include "libsched/sim/timeline.hpp"

#include <algorithm>
#include <numeric>

namespace weir {
namespace {

template <typename When>
std::vector<std::uint32_t> ordered(std::span<const Outcome> outcomes, When when) {
    std::vector<std::uint32_t> order(outcomes.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const Instant x = when(outcomes[a]);
        const Instant y = when(outcomes[b]);
        return x != y ? x < y : a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
        std::sort(order.begin(), order.end(), before);
    }
    return order;
}

}  // namespace

Timeline::Timeline(std::span<const Outcome> outcomes)
    : outcomes_(outcomes),
      submits_(ordered(outcomes, [](const Outcome& o) { return o.job.submit; })),
      starts_(ordered(outcomes, [](const Outcome& o) { return o.start; })),
      ends_(ordered(outcomes, [](const Outcome& o) { return o.end(); })) {
    WEIR_CHECK(outcomes.size() < UINT32_MAX);
}

Instant Timeline::next(std::size_t s, std::size_t r, std::size_t e) const {
    Instant now = outcomes_[ends_[e]].end();
    if (r < starts_.size()) {
        now = std::min(now, outcomes_[starts_[r]].start);
    }
    if (s < submits_.size()) {
        now = std::min(now, outcomes_[submits_[s]].job.submit);
    }
    return now;
}

}  // namespace weir
