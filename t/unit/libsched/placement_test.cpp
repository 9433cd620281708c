// SPDX-License-Identifier: LGPL-3.0-only
// Gpus, memory, sets of nodes, the choice of nodes; constraints by set algebra against a node-by-node check.
#include <catch2/catch.hpp>
#include <functional>

#include "libsched/resource/constraint.hpp"
#include "libsched/resource/resource_space.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

/// Nodes of 4 cores, 2 gpus and 8 GiB.
ResourcePool rich(std::uint32_t nodes, NodeChoice choice = NodeChoice::first) {
    ResourceSet set = test::machine(nodes, 4);
    for (NodeResources& node : set.nodes) {
        node.gpus = IdSet::range(0, 1);
        node.memory_mib = 8192;
    }
    return ResourcePool(set, IdSet::range(0, nodes - 1), choice);
}

ResourceSet allocate_placed(ResourcePool& p, const Request& request) {
    const auto picks = p.place(request, p.free_by_node(), {});
    REQUIRE(picks);
    return p.take(*picks);
}

Request cores(std::uint32_t n) {
    return {0, n, 1, false};
}

}  // namespace

TEST_CASE("pool: gpus go with their slots, and only to those who ask") {
    auto p = rich(2);
    CHECK(allocate_placed(p, cores(4)).nodes[0].gpus.empty());
    const auto two = allocate_placed(p, {0, 2, 1, false, 1});
    REQUIRE(two.nodes.size() == 1);
    CHECK(two.nodes[0].rank == 1);
    CHECK(two.nodes[0].gpus.encode() == "0-1");
    CHECK_FALSE(p.place({0, 1, 1, false, 1}, p.free_by_node(), {}));
    CHECK(p.release(two).has_value());
    CHECK(p.place({0, 1, 1, false, 2}, p.free_by_node(), {}));
}

TEST_CASE("pool: memory is set apart for who asks for it") {
    auto p = rich(2);
    const auto big = allocate_placed(p, {0, 1, 1, false, 0, 6000});
    CHECK(big.nodes[0].memory_mib == 6000);
    CHECK(allocate_placed(p, {0, 1, 1, false, 0, 3000}).nodes[0].rank == 1);
    CHECK(allocate_placed(p, cores(3)).nodes[0].rank == 0);
}

TEST_CASE("pool: exclusive nodes give all that they have") {
    auto p = rich(1);
    const auto all = allocate_placed(p, {1, 1, 1, true});
    CHECK(all.nodes[0] == NodeResources{0, IdSet::range(0, 3), IdSet::range(0, 1), 8192});
}

TEST_CASE("pool: who asks for more than any node has is told what there is") {
    const auto p = rich(2);
    CHECK(p.feasible({0, 1, 1, false, 3}).error().message ==
          "unsatisfiable request: the job asks for 1 slot of 1 core and 3 gpus, each on one node; the nodes of this "
          "instance have at most 4 cores and 2 gpus and cannot hold them all");
    CHECK(
        p.feasible({1, 1, 1, false, 0, 9000}).error().message ==
        "unsatisfiable request: the job asks for 1 node with 1 core and 9000 MiB each; this instance has 2 nodes, 0 of "
        "them that large (the largest has 4 cores and 8192 MiB)");
    const ResourcePool plain(test::machine(1, 4), IdSet::range(0, 0));
    CHECK(plain.feasible({0, 1, 1, false, 1}).error().message.ends_with("; no node has gpus"));
    CHECK(plain.feasible({0, 1, 1, false, 0, 1}).error().message.ends_with("; of no node the memory is known"));
}

TEST_CASE("pool: a set of nodes binds a request, is kept once, and its number is used again") {
    auto p = rich(4);
    Request bound = cores(6);
    bound.node_set = p.keep_set(IdSet::range(2, 3));
    CHECK(p.keep_set(IdSet::range(2, 3)) == bound.node_set);
    CHECK(ranks_of(allocate_placed(p, bound)).encode() == "2-3");
    CHECK_FALSE(p.place(bound, p.free_by_node(), {}));
    CHECK(p.feasible({0, 9, 1, false, 0, 0, bound.node_set}).error().message ==
          "unsatisfiable request: the job asks for 9 cores; of the 2 nodes that satisfy its constraints, this instance "
          "has 8");
    p.shrink(IdSet::range(0, 0));
    CHECK(p.feasible(bound).has_value());
    p.drop_set(bound.node_set);
    CHECK(p.sets().size() == 1);
    p.drop_set(bound.node_set);
    CHECK(p.sets().size() == 0);
    const auto none = p.keep_set({});
    CHECK(none == bound.node_set);
    CHECK(p.feasible({0, 1, 1, false, 0, 0, none}).error().message.ends_with("none of the 3 nodes does"));
}

TEST_CASE("choice: best fit leaves the least over and spans few nodes") {
    auto p = rich(3, NodeChoice::best_fit);
    CHECK(p.claim({{{1, IdSet::range(0, 1), {}}, {2, IdSet::range(0, 0), {}}}}).has_value());  // free: 4, 2, 3
    CHECK(ranks_of(allocate_placed(p, cores(2))).encode() == "1");                             // free: 4, 0, 3
    CHECK(ranks_of(allocate_placed(p, {1, 3, 1, false})).encode() == "2");                     // free: 4, 0, 0
    auto q = rich(3, NodeChoice::best_fit);
    CHECK(q.claim({{{0, IdSet::range(0, 2), {}}}}).has_value());  // free: 1, 4, 4
    CHECK(ranks_of(allocate_placed(q, cores(8))).encode() == "1-2");
}

TEST_CASE("choice: least loaded goes by E, the measured or the given load, whichever is more") {
    auto p = rich(3, NodeChoice::least_loaded);
    p.set_load(0, {0.5, 1, 0, 0});
    p.set_load(1, {0.2, 1, 0, 0});
    p.set_load(2, {0.2, 1, 0.5, 0});
    CHECK(ranks_of(allocate_placed(p, cores(1))).encode() == "1");
    // 0.25 of rank 1 is given now; E still leads. After the second core it does not.
    CHECK(ranks_of(allocate_placed(p, cores(2))).encode() == "1");
    CHECK(p.free_by_node()[1].cores == 1);
    CHECK(ranks_of(allocate_placed(p, cores(1))).encode() == "0");
    p.set_load(2, {0, 3, 0, 8192});
    CHECK(ranks_of(allocate_placed(p, cores(1))).encode() == "2");
}

TEST_CASE("choice: names") {
    for (const auto choice : {NodeChoice::first, NodeChoice::best_fit, NodeChoice::least_loaded}) {
        CHECK(node_choice_named(name_of(choice)) == choice);
    }
    CHECK_FALSE(node_choice_named("worst"));
}

TEST_CASE("space: with its last core on a node a job gives back gpus and memory, too") {
    ResourceSpace space(rich(1));
    REQUIRE(space.start({{1, at(0), JobId{1}}, {0, 2, 1, false, 1, 1000}, secs(10)}, at(0)));
    CHECK(space.release(JobId{1}, {{{0, IdSet::range(0, 0), {}}}}, false).has_value());
    CHECK(space.pool().free_by_node()[0] == Amounts{3, 0, 6192});
    CHECK(space.release(JobId{1}, {{{0, IdSet::range(1, 1), {}}}}, false).has_value());
    CHECK(space.pool().free_by_node()[0] == Amounts{4, 2, 8192});
}

TEST_CASE("space: the head's gpus are kept from long jobs, its node's cores are not") {
    ResourceSpace space(rich(1));
    REQUIRE(space.start({{1, at(0), JobId{1}}, {0, 1, 1, false, 1}, secs(50)}, at(0)));
    CHECK(space.reserve({{1, at(0), JobId{2}}, {0, 1, 1, false, 2}, secs(10)}, at(0)) == at(50));
    CHECK_FALSE(space.start({{1, at(0), JobId{3}}, {0, 1, 1, false, 1}, secs(60)}, at(0)));
    CHECK(space.start({{1, at(0), JobId{4}}, {0, 1, 1, false, 1}, secs(50)}, at(0)));
    CHECK(space.start(test::waiting(5, 1, 60), at(0)));
}

// Kills: release() that forgets gpus or memory; take() of more than a node has free; a set or an exclusive node that is
// ignored; shared slots cut in two; a choice that finds less than `first` does.
TEST_CASE("pool: nothing is given twice, all comes back whole, every choice fits the same") {
    draw::property("alloc + free restores for each choice", [] {
        auto p = rich(3, draw::element(NodeChoice::first, NodeChoice::best_fit, NodeChoice::least_loaded));
        const IdSet some = IdSet::range(1, 2);
        const std::uint32_t set = p.keep_set(some);
        std::vector<ResourceSet> held;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const bool frees = draw::arbitrary<bool>();
            const auto nodes = draw::in_range(0U, 4U);
            const auto slots = draw::in_range(1U, 6U);
            const auto gpus = draw::in_range(0U, 3U);
            const auto other = draw::in_range(0U, 6U);
            if (frees && !held.empty()) {
                const std::size_t i = slots % held.size();
                RC_ASSERT(p.release(held[i]).has_value());
                held.erase(held.begin() + static_cast<long>(i));
            } else {
                const Request request{nodes,
                                      slots,
                                      1U + other % 2,
                                      nodes > 0 && other > 4,
                                      gpus,
                                      other / 2 * 1400,
                                      other % 3 == 0 ? set : 0U};
                const auto picks = p.place(request, p.free_by_node(), {});
                const auto first = weir::place(request, {NodeChoice::first,
                                                         p.free_by_node(),
                                                         {},
                                                         std::vector<Amounts>(3, Amounts{4, 2, 8192}),
                                                         {},
                                                         p.sets().at(request.node_set)});
                RC_ASSERT(picks.has_value() == first.has_value());
                if (!picks) {
                    continue;
                }
                held.push_back(p.take(*picks));
                Amounts sum;
                for (const NodeResources& part : held.back().nodes) {
                    const Amounts room = amounts_of(part);
                    RC_ASSERT(request.node_set == 0 || some.contains(part.rank));
                    RC_ASSERT(!request.exclusive || (room == Amounts{4, 2, 8192}));
                    RC_ASSERT(request.exclusive || room == amounts_of(request, room.cores / request.cores_per_slot));
                    sum += room;
                }
                RC_ASSERT(request.nodes == 0 || held.back().nodes.size() == request.nodes);
                RC_ASSERT(request.exclusive || sum.cores == cores_of(request));
            }
            for (std::size_t n = 0; n < 3; n++) {
                Amounts used = p.free_by_node()[n];
                IdSet cores_seen = p.nodes()[n].free;
                IdSet gpus_seen = p.nodes()[n].free_gpus;
                for (const auto& part : held) {
                    for (const auto& node : part.nodes) {
                        if (node.rank == n) {
                            RC_ASSERT(!cores_seen.intersects(node.cores) && !gpus_seen.intersects(node.gpus));
                            cores_seen.add(node.cores);
                            gpus_seen.add(node.gpus);
                            used += amounts_of(node);
                        }
                    }
                }
                RC_ASSERT((used == Amounts{4, 2, 8192}));
            }
        }
    });
}

namespace {

/// Any expression over two properties, three hosts and four ranks.
Constraint any_constraint(int depth) {
    using Kind = Constraint::Kind;
    Constraint c;
    c.kind = draw::element(Kind::properties, Kind::hosts, Kind::ranks, Kind::all_of, Kind::any_of, Kind::not_all);
    if (c.kind == Kind::properties) {
        c.names =
            draw::several([] { return draw::element<std::string>("fast", "^fast", "big", "^big", "gone", "^gone"); });
    } else if (c.kind == Kind::hosts) {
        c.names = draw::several([] { return draw::element<std::string>("a", "b", "z"); });
    } else if (c.kind == Kind::ranks) {
        c.ranks.add(draw::in_range<std::uint32_t>(0, 5));
    } else if (depth > 0) {
        const int parts = draw::in_range(0, 3);
        for (int i = 0; i < parts; i++) {
            c.parts.push_back(any_constraint(depth - 1));
        }
    }
    return c;
}

/// The same for one node, as RFC 31 words it.
bool holds(const Constraint& c, const NodeNames& names, std::uint32_t rank) {
    using Kind = Constraint::Kind;
    const auto part = [&](const Constraint& p) { return holds(p, names, rank); };
    const auto has = [&](const std::string& name) {
        return std::any_of(names.properties.begin(), names.properties.end(),
                           [&](const auto& p) { return p.first == name && p.second.contains(rank); });
    };
    switch (c.kind) {
        case Kind::properties:
            return std::all_of(c.names.begin(), c.names.end(), [&](const std::string& name) {
                return name[0] == '^' ? !has(name.substr(1)) : has(name);
            });
        case Kind::hosts:
            return std::any_of(names.hosts.begin(), names.hosts.end(), [&](const auto& host) {
                return host.second.contains(rank) && std::count(c.names.begin(), c.names.end(), host.first) > 0;
            });
        case Kind::ranks:
            return c.ranks.contains(rank);
        case Kind::all_of:
            return std::all_of(c.parts.begin(), c.parts.end(), part);
        case Kind::any_of:
            return c.parts.empty() || std::any_of(c.parts.begin(), c.parts.end(), part);
        case Kind::not_all:
            return !std::all_of(c.parts.begin(), c.parts.end(), part);
    }
    return false;
}

}  // namespace

// A tenth of a second, where comparing every host with every wanted name takes half a minute.
TEST_CASE("constraint: as many host names as a constraint may have, on as many hosts") {
    NodeNames names;
    Constraint wanted;
    wanted.kind = Constraint::Kind::hosts;
    for (std::uint32_t rank = 0; rank < 65'536; rank++) {
        names.hosts["node" + std::to_string(rank)].add(rank);
        wanted.names.push_back((rank % 2 == 0 ? "node" : "other") + std::to_string(65'535 - rank));
    }
    const IdSet found = ranks_for(wanted, names, IdSet::range(0, 65'535));
    CHECK(found.count() == 32'768);
    CHECK(found.first() == 1);
}

// Kills: not that means none-of; or that means and; a negated property that holds on nodes outside `all`; hosts that
// are all required.
TEST_CASE("constraint: set algebra gives what judging node by node gives") {
    draw::property("same ranks", [] {
        IdSet two;
        two.add(0);
        two.add(3);
        const NodeNames names{{{"a", two}, {"b", IdSet::range(1, 1)}, {"c", IdSet::range(4, 4)}},
                              {{"fast", IdSet::range(0, 1)}, {"big", IdSet::range(1, 3)}}};
        const Constraint c = any_constraint(3);
        IdSet all = IdSet::range(0, 1);
        all.add(IdSet::range(3, 4));
        IdSet expected;
        all.each([&](std::uint32_t rank) {
            if (holds(c, names, rank)) {
                expected.add(rank);
            }
        });
        RC_ASSERT(ranks_for(c, names, all) == expected);
    });
}
