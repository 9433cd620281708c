// SPDX-License-Identifier: LGPL-3.0-only
// The plan of the nodes against a table of every node in every second.
#include "libsched/resource/node_plan.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

constexpr int nodes = 3;
constexpr int seconds = 200;

/// What is free of each node in each second: what should have come back by now (second 0) comes back in the next.
struct Table {
    std::vector<std::vector<int>> cores = std::vector<std::vector<int>>(nodes, std::vector<int>(seconds, 0));

    void change(std::uint32_t node, int from, int amount) {
        for (int t = std::max(from, 0); t < seconds; t++) {
            cores[node][static_cast<std::size_t>(t)] += amount;
        }
    }
    int least(std::uint32_t node, int from, int end) const {
        int free = cores[node][static_cast<std::size_t>(from)];
        for (int t = from; t < end && t < seconds; t++) {
            free = std::min(free, cores[node][static_cast<std::size_t>(t)]);
        }
        return free;
    }
    bool fits(const Request& request, int from, int end) const {
        int slots = 0;
        int whole = 0;
        for (std::uint32_t node = 0; node < nodes; node++) {
            const int here = std::max(least(node, from, end), 0) / static_cast<int>(request.cores_per_slot);
            slots += here;
            whole += here >= static_cast<int>(request.slots) ? 1 : 0;
        }
        return request.nodes == 0 ? slots >= static_cast<int>(request.slots) : whole >= static_cast<int>(request.nodes);
    }
};

rc::Gen<std::vector<Pick>> picks() {
    return rc::gen::map(rc::gen::container<std::vector<int>>(nodes, rc::gen::inRange(0, 3)), [](const auto& cores) {
        std::vector<Pick> made;
        for (std::uint32_t node = 0; node < nodes; node++) {
            if (cores[node] > 0) {
                made.push_back({node, {static_cast<std::uint32_t>(cores[node]), 0, 0}});
            }
        }
        return made;
    });
}

}  // namespace

// Kills: a search that does not begin anew where less is free; a window that ends a step early or late; what is overdue
// counted as free now; a dropped place that leaves something behind; kinds or nodes mixed up.
TEST_CASE("node plan: the earliest place is what a look at every second finds") {
    rc::prop("same as the table", [] {
        constexpr std::uint32_t size = 4;
        const ResourcePool pool(test::machine(nodes, size), IdSet::range(0, nodes - 1));
        NodePlan plan(nodes);
        Table table;
        for (std::uint32_t node = 0; node < nodes; node++) {
            table.change(node, 0, size);
        }
        // Nothing runs but as the plan believes: the pool is free, so what comes back comes on top.
        const auto count = *rc::gen::inRange(0, 40);
        for (int i = 0; i < count; i++) {
            const int end = *rc::gen::inRange(-5, 60);
            const auto given = *picks();
            plan.add(at(end), given);
            for (const Pick& pick : given) {
                table.change(pick.node, std::max(end, 1), static_cast<int>(pick.room.cores));
            }
            if (i % 5 == 4) {
                plan.remove(at(end), given);
                for (const Pick& pick : given) {
                    table.change(pick.node, std::max(end, 1), -static_cast<int>(pick.room.cores));
                }
            }
        }
        const auto kept = *rc::gen::inRange(0, 25);
        for (int i = 0; i < kept; i++) {
            const int from = *rc::gen::inRange(0, 60);
            const int length = *rc::gen::inRange(1, 30);
            const NodePlan::Place place{at(from), at(from + length), *picks()};
            plan.hold(place);
            if (i % 5 == 4) {
                plan.drop(place);
                continue;
            }
            for (const Pick& pick : place.picks) {
                table.change(pick.node, from, -static_cast<int>(pick.room.cores));
                table.change(pick.node, from + length, static_cast<int>(pick.room.cores));
            }
        }
        Request request;
        request.nodes = static_cast<std::uint32_t>(*rc::gen::inRange(0, nodes + 1));
        request.slots = static_cast<std::uint32_t>(*rc::gen::inRange(1, 4));
        request.cores_per_slot = static_cast<std::uint32_t>(*rc::gen::inRange(1, 3));
        RC_PRE(request.nodes == 0 || request.slots * request.cores_per_slot <= size);
        const int limit = *rc::gen::inRange(1, 40);
        const int horizon = *rc::gen::element(20, 100, seconds);
        int found = -1;
        for (int t = 0; t < seconds && found < 0; t++) {
            found = table.fits(request, t, std::min(t + limit, horizon)) ? t : -1;
        }
        const NodePlan::Want want{request, secs(limit), horizon == seconds ? never : at(horizon)};
        const auto place = plan.earliest(pool, want, at(0), [](Instant from) { return from; });
        // What is overdue comes back a microsecond later, in the table a second.
        const Instant then = place.at == at(0) + Duration{1} ? at(1) : place.at;
        RC_ASSERT(then == (found < 0 ? never : at(found)));
        RC_ASSERT(place.picks.empty() == (found < 0));
        std::uint64_t cores = 0;
        for (const Pick& pick : place.picks) {
            cores += pick.room.cores;
            table.change(pick.node, found, -static_cast<int>(pick.room.cores));
            RC_ASSERT(table.least(pick.node, found, std::min(found + limit, horizon)) >= 0);
        }
        RC_ASSERT(found < 0 || cores == cores_of(request));
    });
}
