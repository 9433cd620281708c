// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what is free of each node from now on, by what runs (believed ends) and what is reserved: the nodes'
// counterpart of AvailabilityProfile. A search halves the instants at which something comes back, between those at
// which something is taken: O(nodes log^2 running) where nothing is reserved. Must not know jobs' priorities or
// policies.
#pragma once
#include <optional>
#include <vector>

#include "libsched/resource/instants.hpp"
#include "libsched/resource/pool.hpp"
#include "libsched/resource/room_steps.hpp"

namespace weir {

class NodePlan {
  public:
    /// So much of these nodes, kept from `at` until `end`.
    struct Place {
        Instant at = never;
        Instant end = never;
        std::vector<Pick> picks;  ///< empty: the job is believed never to fit
    };
    /// A job that looks for a place: what it wants and for how long, but not past `horizon`.
    struct Want {
        const Request& request;
        Duration limit;
        Instant horizon;
        Instant end_from(Instant at) const { return std::min(believed_end(at, limit), horizon); }
    };

    NodePlan() = default;
    explicit NodePlan(std::size_t nodes) : returns_(nodes), kept_(nodes) {}

    /// What runs there gives so much back at `end`. O(picks x steps of a node).
    void add(Instant end, const std::vector<Pick>& picks) { change_returns(end, picks, 1); }
    void remove(Instant end, const std::vector<Pick>& picks) { change_returns(end, picks, -1); }
    void hold(const Place& place) { change_kept(place, 1); }
    void drop(const Place& place) { change_kept(place, -1); }

    /// When something comes back, by what runs or is kept.
    const Instants& returns() const { return rises_; }
    /// By node, what of it comes back by `at` of what runs now; nothing where the node is down. O(nodes log steps).
    std::vector<Room> returned(const ResourcePool& pool, Instant at) const;

    /// The earliest place where `want` fits for its whole time. What should have come back by now comes back one
    /// microsecond later. `not_before(instant)`: the first instant from that on at which it may fit; the better it
    /// knows, the less is looked at.
    template <typename NotBefore>
    Place earliest(const ResourcePool& pool, const Want& want, Instant now, NotBefore&& not_before) const {
        for (Instant from = not_before(now); from != never;) {
            const Instant until = from == now ? now : only_more_until(want, from);
            std::optional<std::vector<Pick>> picks;
            const auto at = rises_.first_where(from, until, [&](Instant when) {
                auto fitting = fits(pool, want, now, when);
                const bool has_room = fitting.has_value();
                if (has_room) {
                    picks = std::move(fitting);  // the last that fits is the earliest
                }
                return has_room;
            });
            if (at) {
                return {*at, want.end_from(*at), std::move(*picks)};
            }
            from = not_before(until + tick);
        }
        return {};
    }
    /// From `at` (>= now) on.
    std::optional<std::vector<Pick>> fits(const ResourcePool& pool, const Want& want, Instant now, Instant at) const;

    /// Nodes, and steps of nodes, that queries have looked at, ever.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    static constexpr Duration tick{1};
    /// Until when a job that begins at `from` or later meets nothing that is taken before its end: only more and more
    /// is free for it.
    Instant only_more_until(const Want& want, Instant from) const;
    void change_returns(Instant end, const std::vector<Pick>& picks, int sign);
    void change_kept(const Place& place, int sign);

    std::vector<RoomSteps> returns_;  ///< by node: of what runs
    std::vector<RoomSteps> kept_;     ///< by node: of what is reserved; less from its beginning on, more after its end
    Instants rises_;                  ///< ends of what runs and of what is reserved
    Instants falls_;                  ///< beginnings of what is reserved
    mutable std::uint64_t looked_at_ = 0;
};

}  // namespace weir
