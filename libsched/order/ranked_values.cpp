// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see ranked_values.hpp.
#include "libsched/order/ranked_values.hpp"

#include <algorithm>

#include "libfairshare/base/check.hpp"

namespace weir {

/// False: there is no free value between two kept values.
bool RankedValues::fill(std::span<const JobId> order, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    std::uint32_t last = above_all;
    std::size_t next = 0;  // the first place from i whose value is kept
    for (std::size_t i = 0; i < order.size(); i++) {
        std::uint32_t& value = values_[order[i].value];
        if (value != 0 && value < last) {
            last = value;
            continue;
        }
        next = std::max(next, i + 1);
        while (next < order.size() && (values_[order[next].value] == 0 || values_[order[next].value] >= last)) {
            next++;
        }
        const std::uint32_t below = next < order.size() ? values_[order[next].value] : 0;
        const auto places = static_cast<std::uint32_t>(std::min<std::size_t>(next - i, above_all - 1));
        if ((last - below) / (places + 1) == 0) {
            return false;
        }
        if (below == 0) {  // after all others: the rest of the range is for later jobs
            value = last == above_all ? above_all / 2 : last - std::min(gap, (last - 1) / (places + 1));
        } else {
            value = last == above_all
                        ? std::min(above_all - 1, below + std::min((above_all - below) / (places + 1), gap) * places)
                        : last - (last - below) / (places + 1);
        }
        if (value == 0 || value >= last || value <= below) {
            return false;
        }
        changed.emplace_back(order[i], value);
        last = value;
    }
    return true;
}

void RankedValues::assign(std::span<const JobId> order, std::vector<std::pair<JobId, std::uint32_t>>& changed) {
    const std::size_t before = changed.size();
    for (const JobId id : order) {
        if (id.value >= values_.size()) {
            values_.resize(id.value + 1);
        }
    }
    if (fill(order, changed)) {
        return;
    }
    changed.resize(before);  // no free value: assign all anew, evenly, in the middle of the range
    WEIR_CHECK(order.size() < above_all / 4);
    const std::uint32_t step =
        std::min<std::uint32_t>(gap, above_all / 2 / static_cast<std::uint32_t>(order.size() + 1));
    std::uint32_t value = above_all / 2 + step * static_cast<std::uint32_t>(order.size() / 2);
    for (const JobId id : order) {
        value -= step;
        values_[id.value] = value;
        changed.emplace_back(id, value);
    }
}

}  // namespace weir
