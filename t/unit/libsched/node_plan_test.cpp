// SPDX-License-Identifier: LGPL-3.0-only
// The plan of the nodes against a table of every node in every microsecond: the shortest time there is.
#include "libsched/resource/node_plan.hpp"
#include "t/unit/draws.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace weir;

namespace {

constexpr std::uint32_t nodes = 3;
constexpr int length = 200;  // of the table
constexpr Amounts whole_node{4, 2, 4};

Instant instant_at(int t) {
    return Instant{Duration{t}};
}

/// What is free of each node at each instant. What should have come back by now (0), and what is kept from now on,
/// comes back and is taken a moment after now, before the next instant: a column of its own.
class Table {
  public:
    static constexpr int now = 0;
    /// That of a change at `t`.
    static int column(int t) { return std::max(t, 0) + 1; }

    void change(std::uint32_t node, int from, const Amounts& amounts, int sign) {
        for (int t = from; t < length; t++) {
            const std::array<std::uint32_t, 3> kinds{amounts.cores, amounts.gpus, amounts.memory_mib};
            for (std::size_t kind = 0; kind < kinds.size(); kind++) {
                free_[node][static_cast<std::size_t>(t)][kind] += sign * static_cast<int>(kinds[kind]);
            }
        }
    }
    void change(int from, const std::vector<Pick>& picks, int sign) {
        for (const Pick& pick : picks) {
            change(pick.node, from, pick.amounts, sign);
        }
    }
    void take_down(std::uint32_t node) { is_down_[node] = true; }
    /// For a job that begins at `begin`.
    Amounts least(std::uint32_t node, int begin, int end) const {
        const int from = begin == 0 ? now : column(begin);
        Free free = free_[node][static_cast<std::size_t>(from)];
        for (int t = from; t < std::min(column(end), length); t++) {
            for (std::size_t kind = 0; kind < free.size(); kind++) {
                free[kind] = std::min(free[kind], free_[node][static_cast<std::size_t>(t)][kind]);
            }
        }
        const auto amount = [&](int n) { return is_down_[node] ? 0U : static_cast<std::uint32_t>(std::max(n, 0)); };
        return {amount(free[0]), amount(free[1]), amount(free[2])};
    }
    bool fits(const Request& request, int from, int end) const {
        std::uint32_t slots = 0;
        std::uint32_t whole_fits = 0;
        for (std::uint32_t node = 0; node < nodes; node++) {
            const Amounts free = least(node, from, end);
            std::uint32_t here = 0;
            while (here < 100 && free.holds(amounts_of(request, here + 1))) {
                here++;
            }
            slots += here;
            whole_fits += whole_node.holds(amounts_of(request, request.slots)) && here >= request.slots ? 1 : 0;
        }
        return request.nodes == 0 ? slots >= request.slots : whole_fits >= request.nodes;
    }

  private:
    using Free = std::array<int, 3>;
    std::array<std::array<Free, length>, nodes> free_{};
    std::array<bool, nodes> is_down_{};
};

/// Some of each node.
std::vector<Pick> some() {
    std::vector<Pick> made;
    for (std::uint32_t node = 0; node < nodes; node++) {
        const Amounts amounts{draw::in_range(0U, 3U), draw::in_range(0U, 2U), draw::in_range(0U, 3U)};
        if (amounts.cores > 0) {
            made.push_back({node, amounts});
        }
    }
    return made;
}

ResourceSet planned_machine() {
    ResourceSet set;
    for (std::uint32_t rank = 0; rank < nodes; rank++) {
        set.nodes.push_back(
            {rank, IdSet::range(0, whole_node.cores - 1), IdSet::range(0, whole_node.gpus - 1), whole_node.memory_mib});
    }
    return set;
}

}  // namespace

// Kills: a search that does not begin anew where less is free; a window that begins or ends a step early or late; what
// is overdue counted as free now, or not counted for what is kept from now on; a dropped place that leaves something
// behind; kinds or nodes mixed up; a node that is down counted.
TEST_CASE("node plan: the earliest place is what a look at every instant finds") {
    draw::property("same as the table", [] {
        ResourcePool pool(planned_machine(), IdSet::range(0, nodes - 1));
        NodePlan plan(nodes);
        Table table;
        std::vector<Pick> busy;
        for (std::uint32_t node = 0; node < nodes; node++) {
            table.change(node, Table::now, whole_node, 1);
            const Amounts amounts{draw::in_range(0U, 5U), draw::in_range(0U, 3U), draw::in_range(0U, 5U)};
            busy.push_back({node, amounts});
        }
        pool.take(busy);
        table.change(Table::now, busy, -1);
        if (draw::in_range(0, 8) == 0) {
            pool.set_up(IdSet::range(1, 1), false);
            table.take_down(1);
        }
        // What comes back need not be what is taken: the plan does not ask.
        const int count = draw::in_range(0, 16);
        for (int i = 0; i < count; i++) {
            const int end = draw::in_range(-5, 60);
            const auto given = some();
            plan.add(instant_at(end), given);
            table.change(Table::column(end), given, 1);
            if (i % 5 == 4) {
                plan.remove(instant_at(end), given);
                table.change(Table::column(end), given, -1);
            }
        }
        const int kept = draw::in_range(0, 16);
        for (int i = 0; i < kept; i++) {
            const int from = draw::in_range(0, 60);
            const int until = from + draw::in_range(1, 30);
            const NodePlan::Place place{instant_at(from), instant_at(until), some()};
            plan.hold(place);
            if (i % 5 == 4) {
                plan.drop(place);
                continue;
            }
            table.change(Table::column(from), place.picks, -1);
            table.change(Table::column(until), place.picks, 1);
        }
        Request request;
        request.nodes = draw::in_range(0U, nodes + 1);
        request.slots = draw::in_range(1U, 4U);
        request.cores_per_slot = draw::in_range(1U, 3U);
        request.gpus_per_slot = draw::element(0U, 0U, 1U);
        request.memory_per_slot_mib = draw::element(0U, 0U, 1U, 2U);
        const int limit = draw::in_range(1, 40);
        const int horizon = draw::element(20, 100, length);
        int found = -1;
        for (int t = 0; t + 1 < length && found < 0; t++) {
            found = table.fits(request, t, std::min(t + limit, horizon)) ? t : -1;
        }
        const NodePlan::Want want{request, Duration{limit}, horizon == length ? never : instant_at(horizon)};
        const auto place = plan.earliest(pool, want, instant_at(0), [](Instant from) { return from; });
        RC_ASSERT(place.at == (found < 0 ? never : instant_at(found)));
        RC_ASSERT(place.picks.empty() == (found < 0));
        std::uint64_t cores = 0;
        for (const Pick& pick : place.picks) {
            cores += pick.amounts.cores;
            RC_ASSERT(table.least(pick.node, found, std::min(found + limit, horizon)).holds(pick.amounts));
        }
        RC_ASSERT(found < 0 || cores == cores_of(request));
    });
}
