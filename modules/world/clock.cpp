// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how a process's clock begins. See clock.hpp.
#include "modules/world/clock.hpp"

#include <cmath>

#include "broker/core/instance_clock.hpp"

namespace weir::world {

std::optional<Clock> Clock::begin(const Ground& ground, const Clock* parent, std::int64_t seen_us) {
    const double start = static_cast<double>(Ground::start_us) / 1e6;
    broker::ClockWish wish;
    if (parent != nullptr) {
        wish.parent = {1., start + to_seconds(parent->ahead_)};
    }
    std::optional<broker::ClockPast> past;
    if (seen_us != 0) {
        past = broker::ClockPast{1., 0., static_cast<double>(seen_us) / 1e6};
    }
    const double wall = static_cast<double>(micros(ground.now() + ground.wall_ahead())) / 1e6;
    const broker::ClockStart begun = broker::begin_clock(wish, past, wall, ground.seconds());
    if (begun.wait > 0) {
        return std::nullopt;
    }
    Clock clock;
    clock.ahead_ = Duration{std::llround((begun.zero - start) * 1e6)};
    return clock;
}

}  // namespace weir::world
