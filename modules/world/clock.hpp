// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a simulated process reads from its clock. An embedded broker's clock begins as broker/core/instance_clock
// has it and does not step; a stock Flux stamps events with the machine's wall clock. Must not know what sets that one.
// Source: doc/adr/0192.
#pragma once
#include <optional>

#include "modules/world/ground.hpp"

namespace weir::world {

class Clock {
  public:
    /// \param parent  of a child instance   \param seen_us  the statedir's mark; 0: none
    /// Nothing: its broker still waits for the parent's clock.
    static std::optional<Clock> begin(const Ground& ground, const Clock* parent, std::int64_t seen_us);
    Instant now(const Ground& ground) const {
        return ground.now() + (ground.machine.is_stock ? ground.wall_ahead() : ahead_);
    }
    /// The true time at which it read, or reads, that.
    Instant true_time(const Ground& ground, Instant read) const {
        return read - (ground.machine.is_stock ? ground.wall_ahead() : ahead_);
    }

  private:
    Duration ahead_{};  ///< of true time; as long as the process lives
};

}  // namespace weir::world
