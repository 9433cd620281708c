// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the default priority of a job, which holds if no plugin sets another. The first job has the highest, and each
// later job has one less.
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
