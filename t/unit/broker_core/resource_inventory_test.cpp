// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/resource_inventory.hpp"

#include <catch2/catch.hpp>

using weir::IdSet;
using weir::Json;
using namespace weir::broker;

namespace {

const char* const SLICE =
    R"({"version":1,"execution":{"R_lite":[{"rank":"7","children":{"core":"2-3","gpu":"1"}},)"
    R"({"rank":"3-4","children":{"core":"0-1"}}],"nodelist":["n[3-4,7]"],"starttime":1,"expiration":99,)"
    R"("properties":{"fast":"4,7,12"}}})";

}  // namespace

TEST_CASE("inventory: a slice of the parent is numbered anew, cores keep their numbers") {
    const auto found = inventory_from_r(Json::parse_payload(SLICE));
    REQUIRE(found);
    REQUIRE(found->nodes.size() == 3);
    CHECK(found->nodes[0].host == "n3");
    CHECK(found->nodes[2].host == "n7");
    CHECK(found->nodes[2].cores == *IdSet::parse("2-3"));
    CHECK(found->nodes[2].gpus == *IdSet::parse("1"));
    CHECK(found->properties.at("fast") == *IdSet::parse("1-2"));
    CHECK(found->expiration == 99);
    CHECK(found->ranks() == *IdSet::parse("0-2"));
    CHECK(found->core_count() == 6);
    CHECK(found->gpu_count() == 1);
}

TEST_CASE("inventory: cores and GPUs can be numbered from 0, node by node") {
    const Inventory found = inventory_from_r(Json::parse_payload(SLICE))->numbered_from_zero();
    CHECK(found.nodes[0].cores == *IdSet::parse("0-1"));
    CHECK(found.nodes[2].cores == *IdSet::parse("0-1"));
    CHECK(found.nodes[2].gpus == *IdSet::parse("0"));
    CHECK(found.nodes[2].host == "n7");
}

TEST_CASE("inventory: equal neighbours share an entry of R") {
    Inventory all;
    all.nodes = {
        {"a0", IdSet::range(0, 1), {}, 0}, {"a1", IdSet::range(0, 1), {}, 0}, {"b", IdSet::range(0, 0), {}, 0}};
    const Json r = all.to_r();
    CHECK(r.dump() ==
          R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-1"}},)"
          R"({"rank":"2","children":{"core":"0"}}],"starttime":0.0,"expiration":0.0,"nodelist":["a[0-1],b"]}})");
    const auto again = inventory_from_r(r);
    REQUIRE(again);
    CHECK(again->to_r().dump() == r.dump());
}

TEST_CASE("inventory: memory by host and by rank survives the numbering anew, and R") {
    Json slice = Json::parse_payload(SLICE);
    slice.set("scheduling", Json::parse_payload(R"({"weir":{"memory_mib":[{"hosts":"n[3,99]","value":512},)"
                                                R"({"ranks":"7,12","value":4096}]},"fluxion":7})"));
    const auto found = inventory_from_r(slice);
    REQUIRE(found);
    CHECK(found->nodes[0].memory_mib == 512);
    CHECK(found->nodes[1].memory_mib == 0);
    CHECK(found->nodes[2].memory_mib == 4096);
    const Json r = found->to_r();
    CHECK(r.at("scheduling").dump() ==
          R"({"weir":{"memory_mib":[{"hosts":"n3","value":512},{"hosts":"n7","value":4096}]}})");
    CHECK(inventory_from_r(r)->to_r().dump() == r.dump());
}

TEST_CASE("inventory: no nodes make the empty R") {
    CHECK(Inventory().to_r().dump() ==
          R"({"version":1,"execution":{"R_lite":[],"starttime":0.0,"expiration":0.0,"nodelist":[]}})");
}

TEST_CASE("inventory: what is no R is refused with the part that is wrong") {
    const auto why = [](const char* text) { return inventory_from_r(Json::parse_payload(text)).error().message; };
    CHECK(why("{}").find("version") != std::string::npos);
    CHECK(why(R"({"version":1,"execution":{"R_lite":[{"rank":"x"}],"nodelist":[]}})").find("R_lite") !=
          std::string::npos);
    CHECK(
        why(R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{}},{"rank":"0","children":{}}],"nodelist":["a"]}})")
            .find("twice") != std::string::npos);
    CHECK(why(R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{}}],"nodelist":["a"]}})")
              .find("1 host names for 2 ranks") != std::string::npos);
    CHECK(why(R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{}}]}})").find("nodelist: is missing") !=
          std::string::npos);
}
