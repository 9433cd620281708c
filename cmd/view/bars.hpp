// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one-line pictures made of characters: a bar with a tick, a progress bar. Pure.
#pragma once
#include <cstddef>
#include <string>

#include "cmd/common/text.hpp"

namespace weir::cmd {

/// A bar `width` columns wide on which `full` is the right end: filled up to `value`, a tick where `tick` is. All three
/// in the same unit; a value beyond the end is shown at the end. The tick is drawn over the fill.
std::string bullet(double value, double tick, double full, std::size_t width, Glyphs glyphs);
/// Filled to `fraction` of its width.
std::string progress_bar(double fraction, std::size_t width, Glyphs glyphs);

}  // namespace weir::cmd
