// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/wire.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

TEST_CASE("wire: factors survive the way there") {
    const Json factors = write_factors({{alice, "alice", "bio", 0.25, true}, {std::nullopt, "*", "bio", 1., false}});
    const auto back = read_factors(factors.get());
    REQUIRE(back);
    CHECK(back->at(0).userid == alice);
    CHECK(back->at(0).is_default);
    CHECK_FALSE(back->at(1).userid);
}

TEST_CASE("wire: the site's values are all right or refused with the one that is not") {
    const auto read = [](const char* text) { return read_site_values(Json::parse(text).value().get()); };
    CHECK(read("[[1, 0.5], [2, null]]").value() ==
          std::vector<std::pair<FluxJobId, std::optional<double>>>{{1, 0.5}, {2, std::nullopt}});
    CHECK_THAT(read("[[1, 0.5], [2, \"x\"]]").error().message, Catch::Matchers::Contains("value 1 must be"));
    CHECK_FALSE(read("[[1]]"));
    CHECK_FALSE(read("{}"));
}
