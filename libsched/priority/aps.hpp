// SPDX-License-Identifier: LGPL-3.0-only
// Owns: LSF's absolute priority: the sum of weighted factors, some of them sums of subfactors, each with a limit and a
// grace period. Must not know: where values come from. Source: LSF 10.1, lsb.queues APS_PRIORITY, bmod -aps.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "libfairshare/base/time.hpp"

namespace weir {

/// `rsrc` is the factor of proc, mem and swap, `work` that of jprio and qprio.
enum class ApsPart : std::uint8_t { fs, rsrc, work, proc, mem, swap, jprio, qprio };
inline constexpr std::size_t aps_parts = 8;
inline constexpr std::array<std::string_view, aps_parts> aps_part_names{"fs",  "rsrc", "work",  "proc",
                                                                        "mem", "swap", "jprio", "qprio"};

struct ApsRule {
    struct Part {
        double weight = 0;  ///< may be negative
        double limit = 0;   ///< the weighted value is at most this; 0: none
        Duration grace{};   ///< the part is 0 until the job has waited longer
        friend bool operator==(const Part&, const Part&) = default;
    };
    std::array<Part, aps_parts> parts = defaults();
    friend bool operator==(const ApsRule&, const ApsRule&) = default;

    /// Factors with subfactors have weight 1, all others 0.
    static std::array<Part, aps_parts> defaults();
};

/// `values` by ApsPart; those of rsrc and work are ignored. `admin`: the administrator's value, added without a weight.
double aps_value(const ApsRule& rule, const std::array<double, aps_parts>& values, Duration waited, double admin = 0);

}  // namespace weir
