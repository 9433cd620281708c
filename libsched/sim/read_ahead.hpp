// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading ahead: a thread reads a source a few pieces before they are needed, so that a log is inflated beside
// its replay. Must not know what the bytes mean.
#pragma once
#include "libsched/sim/line_reader.hpp"

namespace weir {

/// Returns the same as `source`, in the same order, also its error. `source` is called by another thread, which ends
/// with the last copy of the returned function.
LineReader::Source read_ahead(LineReader::Source source);

}  // namespace weir
