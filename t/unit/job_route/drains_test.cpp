// SPDX-License-Identifier: LGPL-3.0-only
// Drained nodes of a parent: which nodes of the child these are, and what the child is to drain and undrain for them.
#include <catch2/catch.hpp>

#include "modules/job-route/drains.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/job-route/resource_map.hpp"

using weir::IdSet;
using weir::Json;
using namespace weir::route;

namespace {

const std::string fan = "drained above: fan";
/// Two nodes with four cores, in the child's numbers and in the parent's.
const char* const two_nodes = R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],
    "starttime":0,"expiration":0,"nodelist":["n[5,7]"]}})";
const char* const allocation = R"({"version":1,"execution":{"R_lite":[{"rank":"5,7","children":{"core":"4-7"}}],
    "starttime":0,"expiration":0,"nodelist":["n[5,7]"]}})";
const char* const one_node = R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-7"}}],
    "starttime":0,"expiration":0,"nodelist":["x"]}})";

Drains decoded(const char* text) {
    const auto drains = decode_drains(Json::parse(text).value().get());
    REQUIRE(drains);
    return *drains;
}

}  // namespace

// Mutant: modules/job-route/drains.cpp: if (is_from_above(reason) && wanted.count(rank) == 0) { => if
// (wanted.count(rank) == 0) {
TEST_CASE("a child drains what its parent drains, and undrains that alone") {
    const DrainPlan all = plan_drains({}, {{0, "fan"}, {2, "fan"}, {3, ""}});
    CHECK(all.drain.at(fan) == IdSet::parse("0,2").value());
    CHECK(all.drain.at("drained above") == IdSet::parse("3").value());
    CHECK((all.drain.size() == 2 && all.replace.empty() && all.undrain.empty()));

    const Drains mixed{{0, fan}, {1, "by hand"}, {2, ""}};
    CHECK(plan_drains(mixed, {{0, "fan"}, {1, "fan"}, {2, "fan"}}).empty());
    CHECK(plan_drains(mixed, {}).undrain == IdSet::parse("0").value());
    const DrainPlan other = plan_drains(mixed, {{0, "disk"}});
    CHECK(other.replace.at("drained above: disk") == IdSet::parse("0").value());
    CHECK((other.drain.empty() && other.undrain.empty()));
}

TEST_CASE("what a plan does makes the next one empty, also further down") {
    const Drains here{{4, fan}, {6, "by hand"}};
    CHECK(reason_below(fan) == fan);
    CHECK(plan_drains({{4, reason_below(fan)}, {6, reason_below("by hand")}}, here).empty());
}

// Mutant: modules/job-route/resource_map.cpp: below.emplace(child_->resources.nodes[i].rank, =>
// below.emplace(drain->first,
TEST_CASE("the parent's drained nodes are those at the same place in the child") {
    const auto map = ResourceMap::make(two_nodes, allocation);
    REQUIRE(map);
    CHECK(map->drains_below({{0, "other"}, {5, "fan"}, {6, "other"}, {7, "disk"}}) == Drains{{0, "fan"}, {1, "disk"}});
    CHECK(map->drains_below({{1, "other"}}).empty());
    CHECK(map->drains_below({}).empty());
}

TEST_CASE("the drained nodes of a partition have the parent's names") {
    CHECK(drained_hosts(allocation, {{5, "fan"}, {6, "other"}, {7, "disk"}}) == "n[5,7]");
    CHECK(drained_hosts(allocation, {{7, "disk"}}) == "n7");
    CHECK((drained_hosts(allocation, {}).empty() && drained_hosts("", {{7, "disk"}}).empty()));
}

TEST_CASE("a child with other nodes than its allocation has none of the parent's") {
    for (const char* child : {one_node, ""}) {
        const auto map = ResourceMap::make(child, allocation);
        REQUIRE(map);
        CHECK(map->drains_below({{0, "fan"}, {5, "fan"}}).empty());
    }
}

TEST_CASE("drained nodes are read from resource.status and from the parent") {
    CHECK(decoded(R"({"0-1": {"timestamp": 1.5, "reason": "fan"}, "4": {"timestamp": 1, "reason": ""}})") ==
          Drains{{0, "fan"}, {1, "fan"}, {4, ""}});
    const Drains some{{0, "fan"}, {1, "fan"}, {4, ""}, {9, "\"disk\""}};
    CHECK(decoded(encode_drains(some).dump().c_str()) == some);
    CHECK(decoded("{}").empty());
    for (const char* text : {"[]", R"({"x": "fan"})", R"({"0-4294967293": "fan"})"}) {
        CHECK_FALSE(decode_drains(Json::parse(text).value().get()));
    }
}

TEST_CASE("the free cores of drained nodes are those that no job has") {
    const auto cores = [](std::uint32_t rank, const char* text) {
        return weir::NodeResources{rank, IdSet::parse(text).value(), {}, 0};
    };
    weir::ResourceSet down, allocated;
    down.nodes = {cores(1, "0-3"), cores(4, "0-7")};
    CHECK(free_cores(down, allocated) == 12);
    allocated.nodes = {cores(0, "0-3"), cores(4, "2-3"), cores(5, "0-7")};
    CHECK(free_cores(down, allocated) == 10);
    CHECK(free_cores({}, allocated) == 0);
}

TEST_CASE("a child says whether it takes drained nodes") {
    Attach attach;
    for (const bool takes_drains : {true, false}) {
        attach.takes_drains = takes_drains;
        const auto read = decode_attach(encode(attach).get());
        REQUIRE(read);
        CHECK(read->takes_drains == takes_drains);
    }
}
