// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which of many equal lines are worth a place in a log. Must not know logs or users.
#pragma once
#include <cstdint>

namespace weir {

/// Counts what another user may cause as often as he likes. The 1st, 2nd, 4th, 8th ... are told, so that he cannot fill
/// a log.
class Thinned {
  public:
    /// Counts one more. \return whether to tell it.
    bool is_next_told() {
        ++count_;
        return (count_ & (count_ - 1)) == 0;
    }

  private:
    std::uint64_t count_ = 0;
};

}  // namespace weir
