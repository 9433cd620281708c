// SPDX-License-Identifier: LGPL-3.0-only
// RouteTable and the rules of partitions: where a job goes, and when it comes back.
#include <catch2/catch.hpp>

#include "t/unit/job_route/route_scene.hpp"

using namespace weir::route;
using namespace weir::route::test;
using namespace std::chrono_literals;

namespace {

KeptPartition a_partition(const std::string& name, JobId id, weir::Duration most, std::int64_t cores = 4) {
    KeptPartition partition;
    partition.name = name;
    partition.job = id;
    partition.queues = {"batch"};
    partition.cores = cores;
    if (most > weir::Duration::zero()) {
        partition.rules.duration.most = most;
    }
    return partition;
}

/// Two attached children of one queue; the rules are to be set.
RouteTable with_two() {
    RouteTable table(false);
    table.synced();
    for (const JobId id : {host, other_host}) {
        run_host(table, id);
        REQUIRE(table.attach(an_attach(id), {0, true}));
    }
    (void)table.take();
    return table;
}

void enter_with(RouteTable& table, JobId id, weir::Duration duration, std::int64_t cores = 1) {
    JobFacts facts;
    facts.queue = "batch";
    facts.duration = duration;
    facts.cores = cores;
    table.submitted(id, an_event(Kind::submit), facts);
    table.event(id, an_event(Kind::bypass));
    table.event(id, an_event(Kind::priority));
}

/// The child that the next actions give the job to; 0: none.
JobId given_to(RouteTable& table) {
    for (const TapOp& op : table.take().tap) {
        if (op.kind == TapOp::Kind::give) {
            record_route(table, op.id, op.child);
            table.jobspec_ready(op.id, "{}");
            return op.child;
        }
    }
    return {};
}

}  // namespace

TEST_CASE("route rules: a job goes to the first partition that takes it and has room") {
    RouteTable table = with_two();
    table.set_partitions({a_partition("short", other_host, 1h), a_partition("any", host, {})});
    enter_with(table, JobId{100}, 30min, 4);
    CHECK(given_to(table) == other_host);
    enter_with(table, JobId{101}, 2h);
    CHECK(given_to(table) == host);
    enter_with(table, JobId{102}, 30min);  // the first has no room
    CHECK(given_to(table) == host);
}

TEST_CASE("route rules: changed rules bring back what waits in a child that does not take it any more") {
    RouteTable table = with_two();
    table.set_partitions({a_partition("short", other_host, 1h), a_partition("any", host, {})});
    enter_with(table, JobId{100}, 30min);
    REQUIRE(given_to(table) == other_host);
    (void)table.take();
    table.set_partitions({a_partition("short", other_host, 10min), a_partition("any", host, {})});
    const ParentActions actions = table.take();
    REQUIRE(actions.orders.size() == 1);
    CHECK(actions.orders[0].first == other_host);
    CHECK(actions.orders[0].second.kind == Order::Kind::cancel);
    REQUIRE(actions.tap.size() == 1);
    CHECK(actions.tap[0].child == host);
}

TEST_CASE("route rules: the other partitions that take a job may start it, unless one is drained or too small") {
    RouteTable table = with_two();
    std::vector<KeptPartition> partitions{a_partition("has", host, {}), a_partition("short", other_host, 1h),
                                          a_partition("down", JobId{}, {}), a_partition("small", JobId{}, {}, 2)};
    partitions[2].away = "is down";
    table.set_partitions(partitions);
    enter_with(table, JobId{100}, 30min, 4);
    const auto others = [&table] {
        std::string names;
        for (const PartitionWord& word : table.words_of(JobId{100})) {
            names += word.may_start ? word.name + " " : "";
        }
        return names;
    };
    REQUIRE(given_to(table) == host);
    CHECK(others() == "short down ");
    partitions[1].is_drained = true;
    partitions[2].rules.duration.most = 10min;
    table.set_partitions(partitions);
    CHECK(others().empty());
}

TEST_CASE("route rules: what no partition takes waits, and each says why; a change of the jobspec counts") {
    RouteTable table = with_two();
    table.set_partitions({a_partition("a", host, 1h), a_partition("b", other_host, 2h)});
    enter_with(table, JobId{100}, 3h);
    CHECK(given_to(table) == JobId{});
    const auto words = table.words_of(JobId{100});
    REQUIRE(words.size() == 2);
    CHECK(words[0].name == "a");
    CHECK(words[0].misfit->rule == "at most 1h");
    CHECK(words[1].misfit->job == "it asks for 3h");
    JournalEvent update = an_event(Kind::update);
    update.duration = 90min;
    table.event(JobId{100}, update);
    CHECK(given_to(table) == other_host);
}

// Mutant: modules/job-route/route_hand_down.cpp: book_.takes(jobs.kind, book_.rank_of(partition.rules))) => true)
TEST_CASE("route rules: a partition that does not take the job is none that it can wait for") {
    RouteTable table = with_two();
    table.set_partitions(
        {a_partition("large", JobId{}, 1h, 64), a_partition("a", host, {}), a_partition("b", other_host, {})});
    enter_with(table, JobId{100}, 30min, 8);
    CHECK(given_to(table) == JobId{});  // it waits for the large one
    enter_with(table, JobId{101}, 2h, 8);
    CHECK(given_to(table) == host);  // which says that it is too large
}

// Mutant: modules/job-route/route_hand_down.cpp: if (child.is_trusted && is_of_queue => if (is_of_queue
// Mutant: modules/job-route/route_hand_down.cpp: host.userid == owner_ && => true &&
TEST_CASE("route rules: nobody waits for a guest's child, whatever size it claims to have") {
    constexpr std::uint32_t guest = 7;
    for (const bool is_attached : {false, true}) {
        RouteTable table = with_two();
        const JobId guests{3};
        run_host(table, guests, guest, {"batch"}, 64);
        if (is_attached) {
            Attach attach = an_attach(guests);
            attach.cores = 1'000'000;  // those of its job count
            REQUIRE(table.attach(attach, {guest, false}));
        }
        enter_with(table, JobId{100}, 30min, 8);
        CHECK(given_to(table) == host);  // which says that it is too large
    }
}

TEST_CASE("route rules: a partition on demand starts only for a job that it takes") {
    RouteTable table(false);
    table.synced();
    const KeptPartition partition = a_partition("short", {}, 1h);
    table.set_partitions({partition});
    enter_with(table, JobId{100}, 2h);
    CHECK_FALSE(table.is_awaited(partition));
    enter_with(table, JobId{101}, 1h);
    CHECK(table.is_awaited(partition));
}

TEST_CASE("route rules: a partition on demand does not start for a job that another one alone can hold") {
    RouteTable table(false);
    table.synced();
    const KeptPartition small = a_partition("small", {}, {}, 2);
    table.set_partitions({small, a_partition("large", {}, {}, 4)});
    enter_with(table, JobId{100}, 1h, 4);
    CHECK_FALSE(table.is_awaited(small));
    enter_with(table, JobId{101}, 1h, 2);
    CHECK(table.is_awaited(small));
}

TEST_CASE("route rules: of a job from above, its user counts") {
    RouteTable table(true);
    table.synced();
    KeptPartition partition = a_partition("alice's", host, {});
    partition.rules.users = {"alice"};
    partition.rules.userids = {7};
    table.set_partitions({partition});
    JobFacts facts;
    facts.queue = "batch";
    facts.upstream = 5;
    facts.upstream_userid = 7;
    table.submitted(JobId{100}, an_event(Kind::submit), facts);
    CHECK_FALSE(table.words_of(JobId{100}).at(0).misfit);
    facts.upstream_userid = 8;
    table.submitted(JobId{101}, an_event(Kind::submit), facts);
    CHECK(table.words_of(JobId{101}).at(0).misfit);
}
