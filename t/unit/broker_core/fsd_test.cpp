// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/fsd.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using weir::broker::parse_fsd;

TEST_CASE("fsd: numbers with units are seconds") {
    CHECK(parse_fsd("30s") == 30.);
    CHECK(parse_fsd("1.5h") == 5400.);
    CHECK(parse_fsd("100ms") == 0.1);
    CHECK(parse_fsd("2m") == 120.);
    CHECK(parse_fsd("7d") == 604800.);
    CHECK(parse_fsd("42") == 42.);
    CHECK(parse_fsd("0") == 0.);
    CHECK(std::isinf(*parse_fsd("inf")));
}

TEST_CASE("fsd: anything else is refused") {
    for (const char* text : {"", "s", "-1s", "1x", "1 s", "nan", "1s2"}) {
        CHECK_FALSE(parse_fsd(text));
    }
}
