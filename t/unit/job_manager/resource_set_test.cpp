// SPDX-License-Identifier: LGPL-3.0-only
// Facts of R, and the union of R that `flux resource list` shows as allocated.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir::broker::jobs;
using weir::broker::jobs::testing::json;

TEST_CASE("R: facts count cores over ranks") {
    const ResourceFacts facts =
        resource_facts(json(R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}},)"
                            R"({"rank":"3","children":{"core":"1"}}],"nodelist":["n[0-1]","n3"],"expiration":5.0}})")
                           .get());
    CHECK(facts.ncores == 9);
    CHECK(facts.nnodes == 3);
    CHECK(facts.ranks == "[0-1,3]");
    CHECK(facts.nodelist == "n[0-1,3]");
    CHECK(facts.expiration == 5.0);
}

TEST_CASE("R: the union merges cores of a rank and leaves a bad R out") {
    ResourceUnion sum;
    REQUIRE(
        sum.add(json(R"({"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0"}}],"nodelist":["n1"]}})")
                    .get()));
    REQUIRE(sum.add(
        json(R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"2-3"}}],"nodelist":["n[0-1]"]}})")
            .get()));
    CHECK_FALSE(sum.add(json(R"({"version":1,"execution":{"R_lite":[{"rank":"x","children":{"core":"2"}}]}})").get()));
    const ResourceFacts facts = resource_facts(sum.to_r().get());
    CHECK(facts.ncores == 5);
    CHECK(facts.nodelist == "n[0-1]");
}
