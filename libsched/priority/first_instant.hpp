// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the search for the first instant from which a predicate holds. Must not know the predicate.
#pragma once
#include "libfairshare/base/time.hpp"

namespace weir {

/// The least step of time.
inline constexpr Duration tick{1};

/// The first instant in (from, to] at which it holds, for a predicate that stays true; `to` must satisfy it.
/// O(log ticks).
template <typename Holds>
Instant first_in(Instant from, Instant to, const Holds& holds) {
    while (to - from > tick) {
        const Instant middle = from + (to - from) / 2;
        if (holds(middle)) {
            to = middle;
        } else {
            from = middle;
        }
    }
    return to;
}

}  // namespace weir
