// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the free resources of each node from now on, from the expected ends of running jobs and from reservations: the
// counterpart of AvailabilityProfile for nodes. A search bisects the instants at which resources become free, between
// those at which they are taken: O(nodes log^2 running) without reservations. Must not know jobs' priorities or
// policies.
#pragma once
#include <optional>
#include <vector>

#include "libsched/resource/amount_steps.hpp"
#include "libsched/resource/instants.hpp"
#include "libsched/resource/pool.hpp"

namespace weir {

class NodePlan {
  public:
    /// Resources of these nodes, reserved from `at` until `end`.
    struct Place {
        Instant at = never;
        Instant end = never;
        std::vector<Pick> picks;  ///< empty: the job is not expected to fit at any time
    };
    /// A job that needs a place: its request and its duration, but not past `horizon`.
    struct Want {
        const Request& request;
        Duration limit;
        Instant horizon;
        Instant end_from(Instant at) const { return std::min(believed_end(at, limit), horizon); }
    };

    NodePlan() = default;
    explicit NodePlan(std::size_t nodes) : returns_(nodes), kept_(nodes) {}

    /// A running job frees these resources at `end`. O(picks x steps of a node).
    void add(Instant end, const std::vector<Pick>& picks) { change_returns(end, picks, 1); }
    void remove(Instant end, const std::vector<Pick>& picks) { change_returns(end, picks, -1); }
    /// It has given these back already and keeps others until `end`.
    void give_back(Instant end, const std::vector<Pick>& picks);
    void hold(const Place& place) { change_kept(place, 1); }
    void drop(const Place& place) { change_kept(place, -1); }

    /// When resources become free, from running jobs and reservations.
    const Instants& returns() const { return rises_; }
    /// By node, the resources that running jobs free by `at`; none where the node is down. O(nodes log steps).
    std::vector<Amounts> returned(const ResourcePool& pool, Instant at) const;

    /// The earliest place where `want` fits for its whole duration. Resources that are overdue become free one
    /// microsecond from now. `not_before(instant)`: a lower bound of the first instant at which it may fit; a better
    /// bound saves work.
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

    /// Total number of nodes, and steps of nodes, that queries have looked at.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    static constexpr Duration tick{1};
    /// The latest instant until which a job that begins at `from` or later meets no beginning of a reservation: in that
    /// time its free resources only grow.
    Instant only_more_until(const Want& want, Instant from) const;
    void change_returns(Instant end, const std::vector<Pick>& picks, int sign);
    void change_kept(const Place& place, int sign);

    std::vector<AmountSteps> returns_;  ///< by node: of running jobs
    std::vector<AmountSteps> kept_;     ///< by node: of reservations; less from the beginning on, more after the end
    Instants rises_;                    ///< ends of running jobs and of reservations
    Instants falls_;                    ///< beginnings of reservations
    mutable std::uint64_t looked_at_ = 0;
};

}  // namespace weir
