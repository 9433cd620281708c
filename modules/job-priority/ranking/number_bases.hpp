// SPDX-License-Identifier: LGPL-3.0-only
// Owns: as of when, and with which factor, the numbers of an association's jobs are computed (ADR 0060).
// Must not know: how a number is computed, jobs.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>

#include "libfairshare/base/time.hpp"

namespace weir::priority {

/// The basis of an association stays the same while any of its jobs is pending. So the numbers sort these jobs,
/// whenever they came and however the factor changed since.
class NumberBases {
  public:
    struct Basis {
        Instant at;  ///< a wait after this does not count
        double factor;
    };
    /// The association's basis; if it has none, as of `now`. One whose factor is not known yet gets none. O(1)
    /// expected. \param factor  its index in `factors`
    Basis of(std::uint32_t factor, Instant now, std::span<const double> factors) {
        if (factor >= factors.size()) {
            return {now, 0.};
        }
        return bases_.try_emplace(factor, Basis{now, factors[factor]}).first->second;
    }
    /// Forgets those for which has_jobs(factor) is false. O(bases).
    template <typename HasJobs>
    void keep_if(HasJobs has_jobs) {
        std::erase_if(bases_, [&](const auto& basis) { return !has_jobs(basis.first); });
    }
    void clear() { bases_.clear(); }

  private:
    std::unordered_map<std::uint32_t, Basis> bases_;  ///< by the factor's index
};

}  // namespace weir::priority
