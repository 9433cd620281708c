// SPDX-License-Identifier: LGPL-3.0-only
// A guest's job says that it is a child instance, attaches and reports what it likes: nothing happens to a job of
// anybody else.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "t/unit/draws.hpp"
#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;

namespace {

constexpr std::uint32_t liar = 6666;
constexpr JobId his_job = test::job;
constexpr JobId elsewhere{101};  ///< another user's, in the owner's child

/// The ids that he tries: jobs of all kinds, and one that is not there.
constexpr std::array<std::uint64_t, 5> tried = {test::host.value, test::other_host.value, his_job.value,
                                                elsewhere.value, 999};

RouteTable with_a_liar() {
    RouteTable table(false);
    table.synced();
    test::run_host(table, test::host, liar);
    test::run_host(table, test::other_host);
    REQUIRE(table.attach(test::an_attach(test::other_host), {0, true}));
    test::enter(table, elsewhere);
    test::record_route(table, elsewhere, test::other_host);
    test::enter(table, his_job, liar, "his");
    test::record_route(table, his_job, test::host);
    for (const JobId id : {elsewhere, his_job}) {
        table.jobspec_ready(id, "{}");
    }
    (void)table.take();
    return table;
}

ChildEvent any_event(unsigned any, std::uint64_t seq) {
    ChildEvent event;
    event.seq = seq;
    event.id = JobId{tried[any % tried.size()]};
    event.kind = static_cast<ChildEvent::Kind>(any / tried.size() % 7);
    event.local = LocalId{tried[any / 35 % tried.size()]};
    event.R = any % 2 == 0 ? "R" : "";
    event.status = static_cast<int>(any % 300);
    event.type = "cancel";
    return event;
}

Attach any_attach(unsigned any) {
    Attach attach = test::an_attach(test::host, any % 2 == 0 ? "s" : "t");
    attach.serves = any % 3 == 0 ? std::vector<std::string>{"batch", "his"} : std::vector<std::string>{};
    attach.cores = any % 5 == 0 ? std::int64_t{1} << 62 : 4;
    for (std::size_t i = 0; i < tried.size(); ++i) {
        if (((any >> i) & 1U) != 0) {
            attach.known.push_back({JobId{tried[i]}, any % 7 == 0, 16, any % 11 == 0});
        }
    }
    return attach;
}

}  // namespace

// Mutant: modules/job-route/route_report.cpp: else if (entry != jobs_.end() && => else if (entry != jobs_.end() ||
TEST_CASE("route: a guest's child changes nothing but its owner's jobs", "[property]") {
    draw::property("whatever it reports, in any order", [] {
        RouteTable table = with_a_liar();
        std::uint64_t seq = 0;
        for (const unsigned any : draw::several(draw::arbitrary<unsigned>)) {
            if (any % 8 == 0) {
                (void)table.attach(any_attach(any / 8), {liar, false});
                seq = 0;
            } else {
                seq += any % 9 == 0 ? 0 : 1;
                (void)table.report({test::host, any % 6 == 0 ? "t" : "s", {any_event(any / 8, seq)}});
            }
            const ParentActions actions = table.take();
            const auto is_his = [](const TapOp& op) { return op.id == his_job; };
            RC_ASSERT(std::all_of(actions.tap.begin(), actions.tap.end(), is_his));
            for (const auto& [child, order] : actions.orders) {
                RC_ASSERT(child != test::other_host);
                RC_ASSERT(order.kind != Order::Kind::submit || order.id == his_job);
            }
            RC_ASSERT(table.find(elsewhere)->child == test::other_host);
        }
    });
}
