// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the world's dice: one generator, from one seed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libfairshare/base/time.hpp"
#include "libsched/sim/prng.hpp"

namespace weir::world {

class Random {
  public:
    explicit Random(std::uint64_t seed) : prng_(seed) {}
    /// In [0, n). REQUIRES: n > 0.
    std::uint64_t below(std::uint64_t n) { return prng_.next() % n; }
    /// In [from, to]. REQUIRES: from <= to.
    std::int64_t between(std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(to - from) + 1));
    }
    Duration between(Duration from, Duration to) { return Duration{between(from.count(), to.count())}; }
    /// True once in n times, on average.
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <typename List>
    auto& of(List& list) {
        return list[static_cast<std::size_t>(below(list.size()))];
    }

  private:
    Prng prng_;
};

}  // namespace weir::world
