// SPDX-License-Identifier: LGPL-3.0-only
// The pool, the profile and both spaces.
#include <catch2/catch.hpp>

#include "libsched/resource/count_space.hpp"
#include "libsched/resource/resource_space.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::machine;
using test::waiting;

namespace {
ResourcePool pool(std::uint32_t nodes, std::uint32_t cores) {
    return ResourcePool(machine(nodes, cores), IdSet::range(0, nodes - 1));
}
ResourceSet allocate(ResourcePool& p, const Request& request) {
    const auto picks = p.place(request, p.free_by_node(), {});
    REQUIRE(picks);
    return p.take(*picks);
}
PendingJob without_limit(std::uint64_t id, std::uint32_t cores) {
    PendingJob job = waiting(id, cores, 0);
    job.limit = limit_max;
    return job;
}
/// The starts beside a head that waits for a job without a limit and leaves two cores over.
template <typename Space>
void pass_again_and_again(Space space) {
    REQUIRE(space.start(without_limit(1, 3), at(0)));
    for (int pass = 1; pass < 3; pass++) {
        INFO("pass " << pass);
        CHECK_FALSE(space.reserve(waiting(2, 6, 10), at(pass)));
        CHECK(space.start(without_limit(static_cast<std::uint64_t>(pass) + 2, 1), at(pass)));
        space.clear_reservations();
    }
    CHECK_FALSE(space.reserve(waiting(2, 6, 10), at(3)));
    CHECK_FALSE(space.start(without_limit(9, 1), at(3)));
    CHECK(space.start(waiting(10, 1, 1000), at(3)));
}
}  // namespace

TEST_CASE("pool: the lowest cores of the lowest ranks are given") {
    auto p = pool(2, 4);
    auto first = allocate(p, {0, 3, 1, false});
    REQUIRE(first.nodes.size() == 1);
    CHECK(first.nodes[0].cores.encode() == "0-2");
    const auto second = allocate(p, {0, 3, 1, false});
    REQUIRE(second.nodes.size() == 2);
    CHECK(second.nodes[0].cores.encode() == "3");
    CHECK(second.nodes[1].cores.encode() == "0-1");
    CHECK(p.free_cores() == 2);
}

TEST_CASE("pool: a slot's cores stay on one node") {
    auto p = pool(2, 3);
    CHECK(allocate(p, {0, 2, 2, false}).nodes.size() == 2);
    CHECK_FALSE(p.place({0, 1, 2, false}, p.free_by_node(), {}));
}

TEST_CASE("pool: node jobs get so many cores on each, exclusive ones all") {
    auto p = pool(3, 4);
    allocate(p, {0, 1, 1, false});
    const auto exclusive = allocate(p, {1, 1, 1, true});
    CHECK(exclusive.nodes[0].rank == 1);
    CHECK(exclusive.nodes[0].cores.encode() == "0-3");
    const auto two = allocate(p, {2, 1, 3, false});
    CHECK(ranks_of(two).encode() == "0,2");
}

TEST_CASE("pool: nodes that are down are not used and not counted") {
    auto p = pool(2, 4);
    p.set_up(IdSet::range(0, 0), false);
    CHECK(p.free_cores() == 4);
    CHECK(allocate(p, {0, 1, 1, false}).nodes[0].rank == 1);
    p.set_up(IdSet::range(0, 0), true);
    CHECK(p.free_cores() == 7);
}

TEST_CASE("pool: claiming what is held and freeing what is not are errors without effect") {
    auto p = pool(1, 4);
    const auto held = allocate(p, {0, 2, 1, false});
    CHECK_FALSE(p.claim(held).has_value());
    ResourceSet other{{{0, IdSet::range(1, 2), {}}}};
    CHECK_FALSE(p.release(other).has_value());
    CHECK_FALSE(p.claim(ResourceSet{{{9, IdSet::range(0, 0), {}}}}).has_value());
    CHECK(p.free_cores() == 2);
    CHECK(p.release(held).has_value());
    CHECK(p.claim(other).has_value());
}

TEST_CASE("pool: impossible requests get a sentence with both numbers") {
    const auto p = pool(2, 4);
    CHECK(p.feasible({0, 8, 1, false}).has_value());
    CHECK(p.feasible({0, 9, 1, false}).error().message ==
          "unsatisfiable request: the job asks for 9 cores; this instance has 8");
    CHECK(p.feasible({3, 1, 1, false}).error().message ==
          "unsatisfiable request: the job asks for 3 nodes with 1 core each; this instance has 2 nodes, 2 of them that "
          "large (the largest has 4 cores)");
    CHECK_FALSE(p.feasible({0, 1, 5, false}).has_value());
}

// Kills: release() that forgets recount(); take() of a core that is not free; a pick that exceeds a node.
TEST_CASE("pool: allocating and freeing in any order restores the machine") {
    draw::property("alloc + free restores, nothing is given twice", [] {
        auto p = pool(4, 5);
        std::vector<ResourceSet> held;
        std::uint64_t in_use = 0;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const bool frees = draw::arbitrary<bool>();
            const auto nodes = draw::in_range(0U, 4U);
            const auto slots = draw::in_range(1U, 6U);
            const auto width = draw::in_range(1U, 4U);
            const bool exclusive = draw::arbitrary<bool>();
            if (frees && !held.empty()) {
                const std::size_t i = slots % held.size();
                RC_ASSERT(p.release(held[i]).has_value());
                in_use -= core_count(held[i]);
                held.erase(held.begin() + static_cast<long>(i));
            } else {
                const Request request{nodes, slots, width, exclusive && nodes > 0};
                const auto picks = p.place(request, p.free_by_node(), {});
                if (!picks) {
                    continue;
                }
                held.push_back(p.take(*picks));
                in_use += core_count(held.back());
                RC_ASSERT(core_count(held.back()) >= cores_of(request));
                RC_ASSERT(request.exclusive || core_count(held.back()) == cores_of(request));
            }
            RC_ASSERT(p.free_cores() + in_use == 20U);
            for (std::size_t a = 0; a < held.size(); a++) {
                for (std::size_t b = a + 1; b < held.size(); b++) {
                    for (const auto& x : held[a].nodes) {
                        for (const auto& y : held[b].nodes) {
                            RC_ASSERT(x.rank != y.rank || !x.cores.intersects(y.cores));
                        }
                    }
                }
            }
        }
        for (const auto& set : held) {
            RC_ASSERT(p.release(set).has_value());
        }
        for (const auto& node : p.nodes()) {
            RC_ASSERT(node.free == node.cores);
        }
    });
}

TEST_CASE("space: a job without a limit does not end by the shadow time of jobs with one") {
    CountSpace space(4);
    REQUIRE(space.start(waiting(1, 3, 100), at(0)));
    const PendingJob endless = without_limit(3, 1);
    CHECK(space.reserve(waiting(2, 4, 10), at(0)) == at(100));
    CHECK_FALSE(space.start(endless, at(0)));
    CHECK(space.start(waiting(4, 1, 100), at(0)));
}

TEST_CASE("space: no estimate where what runs has no limit") {
    ResourceSpace space(pool(1, 4));
    REQUIRE(space.start(without_limit(1, 3), at(0)));
    CHECK_FALSE(space.reserve(waiting(2, 4, 10), at(1)));
    CHECK_FALSE(space.start(without_limit(3, 1), at(1)));
    CHECK(space.start(waiting(4, 1, 1000), at(1)));
}

// Kills: one end for all jobs without a limit, so that each pass counts as free what earlier passes gave away.
// Mutant: libsched/job.hpp: limit >= never - now ? => limit >= limit_max ?
TEST_CASE("space: jobs without a limit hold beside the head what it leaves over, in all passes together") {
    pass_again_and_again(CountSpace(8));
    pass_again_and_again(ResourceSpace(pool(1, 8)));
}

TEST_CASE("space: what comes back on a node that is down is nobody's") {
    ResourceSpace space(ResourcePool(test::machine(2, 1), IdSet::range(0, 1)));
    REQUIRE(space.start(test::waiting(1, 1, 100), at(0)));
    REQUIRE(space.start(test::waiting(2, 1, 50), at(0)));
    space.set_up(IdSet::range(1, 1), false);
    CHECK(space.reserve(test::waiting(3, 1, 10), at(0)) == at(100));
}

TEST_CASE("space: the head's node is kept from long jobs, free for short ones") {
    ResourceSpace space(pool(2, 4));
    REQUIRE(space.start({{1, at(0), JobId{1}}, {1, 1, 3, false}, test::secs(50)}, at(0)));  // rank 0, 3 cores
    REQUIRE(space.start({{1, at(0), JobId{2}}, {1, 1, 3, false}, test::secs(90)}, at(0)));  // rank 1, 3 cores
    const PendingJob head{{1, at(0), JobId{3}}, {1, 1, 1, true}, test::secs(10)};
    CHECK(space.reserve(head, at(0)) == at(50));  // all of rank 0
    const auto long_job = space.start(waiting(4, 1, 80), at(0));
    REQUIRE(long_job);
    CHECK(long_job->resources.nodes[0].rank == 1);
    CHECK_FALSE(space.start(waiting(5, 1, 80), at(0)));
    const auto short_job = space.start(waiting(6, 1, 50), at(0));
    REQUIRE(short_job);
    CHECK(short_job->resources.nodes[0].rank == 0);
}

// Kills: a backfill that lets short jobs use other cores than the head's first.
TEST_CASE("space: short jobs take the head's cores, so that long ones find others") {
    ResourceSpace space(pool(2, 4));
    REQUIRE(space.start({{1, at(0), JobId{1}}, {1, 1, 3, false}, test::secs(90)}, at(0)));           // rank 0, 3 cores
    REQUIRE(space.start({{1, at(0), JobId{2}}, {1, 1, 3, false}, test::secs(50)}, at(0)));           // rank 1, 3 cores
    CHECK(space.reserve({{1, at(0), JobId{3}}, {1, 1, 1, true}, test::secs(10)}, at(0)) == at(50));  // all of rank 1
    const auto short_job = space.start(waiting(4, 1, 50), at(0));
    REQUIRE(short_job);
    CHECK(short_job->resources.nodes[0].rank == 1);
    CHECK(space.start(waiting(5, 1, 80), at(0)));
}

TEST_CASE("space: parts of an allocation come back one by one") {
    ResourceSpace space(pool(2, 2));
    const auto taken = space.start(waiting(1, 4, 10), at(0));
    REQUIRE(taken);
    const ResourceSet first{{taken->resources.nodes[0]}};
    CHECK(space.release(JobId{1}, first, false).has_value());
    CHECK(space.pool().free_cores() == 2);
    CHECK_FALSE(space.release(JobId{1}, first, false).has_value());
    CHECK(space.release(JobId{1}, {}, true).has_value());
    CHECK(space.pool().free_cores() == 4);
    CHECK_FALSE(space.release(JobId{1}, {}, true).has_value());
}

// Mutant: libsched/resource/resource_space.cpp: plan_.give_back(planned(running.end), picks_of(given)); => ;
TEST_CASE("space: what a job gave back early is not expected at its end") {
    draw::property("as if it had never held it", [] {
        ResourceSpace parts(pool(3, 4));
        ResourceSpace anew(pool(3, 4));
        ResourceSet rest{test::machine(3, 4).nodes};
        RC_ASSERT(parts.claim(JobId{1}, rest, at(10)).has_value());
        const int steps = draw::in_range(0, 6);
        for (int i = 0; i < steps; i++) {
            ResourceSet part;
            for (NodeResources& node : rest.nodes) {
                IdSet cores;
                node.cores.each([&](std::uint32_t core) {
                    if (draw::in_range(0, 3) == 0) {
                        cores.add(core);
                    }
                });
                if (!cores.empty()) {
                    node.cores.remove(cores);
                    part.nodes.push_back({node.rank, cores, {}});
                }
            }
            RC_ASSERT(parts.release(JobId{1}, part, false).has_value());
        }
        ResourceSet held;
        std::copy_if(rest.nodes.begin(), rest.nodes.end(), std::back_inserter(held.nodes),
                     [](const NodeResources& node) { return !node.cores.empty(); });
        RC_ASSERT(anew.claim(JobId{1}, held, at(10)).has_value());
        ResourceSet given;  // to a job that is still there when the first one ends
        for (NodeResources node : test::machine(3, 4).nodes) {
            const auto kept = std::find_if(held.nodes.begin(), held.nodes.end(),
                                           [&](const NodeResources& other) { return other.rank == node.rank; });
            if (kept != held.nodes.end()) {
                node.cores.remove(kept->cores);
            }
            if (!node.cores.empty()) {
                given.nodes.push_back({node.rank, node.cores, {}});
            }
        }
        for (ResourceSpace* space : {&parts, &anew}) {
            RC_ASSERT(given.nodes.empty() || space->claim(JobId{3}, given, at(30)).has_value());
        }
        for (std::uint32_t cores = 1; cores <= 4; cores++) {
            const PendingJob job{{1, at(0), JobId{2}}, {2, 1, cores, false}, test::secs(20)};
            const auto place = parts.earliest(job, at(1));
            const auto expected = anew.earliest(job, at(1));
            RC_ASSERT(place.at == expected.at && place.picks.size() == expected.picks.size());
        }
        RC_ASSERT(parts.release(JobId{1}, {}, true).has_value());
        RC_ASSERT(given.nodes.empty() || parts.release(JobId{3}, {}, true).has_value());
        RC_ASSERT(parts.pool().free_cores() == 12U);
        RC_ASSERT(parts.plan().returns().size() == 0U);
    });
}
