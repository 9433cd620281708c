// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whether partitions, with those that they have, can hold a job, and why they cannot. Must not know which jobs
// they have.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "modules/replay/tree_replay.hpp"

namespace weir::replay {

/// Nothing: a partition without partitions of its own can hold the job, and each one around it takes it.
/// O(all partitions x rules).
std::optional<Refusal> refusal_of(const std::vector<SimPartition>& partitions, const route::JobFacts& facts,
                                  std::uint32_t user);

}  // namespace weir::replay
