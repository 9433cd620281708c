// SPDX-License-Identifier: LGPL-3.0-only
// Owns: slices of lists as Python writes them, "[START:STOP:STEP]". Must not know what the list has.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::broker::jobs {

/// The positions that the slice takes of a list of `length`, in its order; negative numbers count from the end.
/// Nothing: it is no slice. O(positions).
std::optional<std::vector<std::size_t>> slice_positions(std::string_view slice, std::size_t length);

}  // namespace weir::broker::jobs
