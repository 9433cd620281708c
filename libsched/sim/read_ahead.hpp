// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading ahead: a source that is asked by a thread of its own, a few pieces before they are wanted, so that
// inflating a log goes on beside its replay. Must not know what the bytes are.
#pragma once
#include "libsched/sim/line_reader.hpp"

namespace weir {

/// Gives what `source` gives, in the same order, its error too. `source` is called by another thread, which ends with
/// the last copy of what is returned.
LineReader::Source read_ahead(LineReader::Source source);

}  // namespace weir
