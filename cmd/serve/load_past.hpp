// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the load of an instance over the last hour, and the events that bring it to viewers. Pure. Must not know the
// viewers, nor who asks the instance.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cmd/pictures/instances.hpp"

namespace weir::cmd {

/// What jobs take of an instance at one moment, and how many wait for it.
struct Load {
    std::int64_t cores_busy = 0, cores = 0, waiting = 0;
    bool operator==(const Load&) const = default;
};
/// Of the instance of the box. A core that a partition holds is in use where a job of the partition has it,
/// and where that is not known.
Load load_of(const InstanceBox& box);

class LoadPast {
  public:
    /// Bounds: the time that is kept in seconds, the points that are kept, and the points in one event.
    static constexpr double kept_s = 3600;
    static constexpr std::size_t points_max = 3600, sent_max = 600;
    /// Between two readings that are further apart nobody knows the load.
    static constexpr double gap_s = 10;

    /// `now`: seconds of the instance's clock, at each answer of the instance. `read`: the load; nullopt: it was not
    /// requested, and counts as unchanged.
    void take(double now, const std::optional<Load>& read);
    /// The number of the point that comes next. Numbers are never used again.
    std::uint64_t end() const { return first_ + points_.size(); }
    /// The event "load" for a viewer that has all points before the number `begin`; empty if there is none since. {now,
    /// whole, points: [[at, cores_busy, cores, waiting], …]}: each point holds until the next. Null figures: unknown
    /// from then on. `whole`: the points replace all that the viewer has; otherwise they replace what it has from the
    /// first of them on. Of more than `sent_max` points the event keeps the first and the last, and of each stretch
    /// between them the extremes, the first gap and the last point. O(points).
    std::string event(std::uint64_t begin) const;

  private:
    struct Point {
        double at = 0;
        std::optional<Load> load;
    };
    void forget_old();
    /// Places, in order.
    std::vector<std::size_t> telling(std::size_t begin) const;

    std::deque<Point> points_;  ///< a point is there where the load has changed
    std::uint64_t first_ = 0;   ///< the number of the first
    double until_ = 0;          ///< the last point holds until then
};

}  // namespace weir::cmd
