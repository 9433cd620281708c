// SPDX-License-Identifier: LGPL-3.0-only
// Owns: priorities that only express an order: takes the jobs in order, changes as few values as practical.
// Must not know how the order is computed.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libsched/job.hpp"

namespace weir {

class RankedValues {
  public:
    /// Takes the waiting jobs, first to last. Appends those whose value differs from the one appended before, so that
    /// sorting by value, high to low, gives this order. O(jobs).
    void assign(std::span<const JobId> order, std::vector<std::pair<JobId, std::uint32_t>>& changed);
    /// The job was removed; its id may be used again.
    void forget(JobId id) {
        if (id.value < values_.size()) {
            values_[id.value] = 0;
        }
    }

  private:
    static constexpr std::uint32_t gap = 1U << 12;
    static constexpr std::uint32_t above_all = priority_max;

    bool fill(std::span<const JobId> order, std::vector<std::pair<JobId, std::uint32_t>>& changed);

    std::vector<std::uint32_t> values_;  ///< by id; 0: none
};

}  // namespace weir
