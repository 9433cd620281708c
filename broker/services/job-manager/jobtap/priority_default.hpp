// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the priority that a job is created with, and keeps where no plugin gives it another.
// Must not know: jobs, plugins.
#pragma once
#include <algorithm>
#include <cstdint>

namespace weir::broker::jobs {

/// `first` for the first job of the instance, each later one one less. Below 1 a job would be held: from there on
/// priorities tie and ids decide.
constexpr std::int64_t default_priority(std::uint64_t sequence, std::int64_t first = std::int64_t{1} << 31) {
    return std::max<std::int64_t>(first - static_cast<std::int64_t>(sequence), 1);
}

}  // namespace weir::broker::jobs
