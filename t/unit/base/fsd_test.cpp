// SPDX-License-Identifier: LGPL-3.0-only
// Durations: what is read, what is written, what is refused and how.
#include "libfairshare/base/fsd.hpp"
#include "t/unit/draws.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace weir;

TEST_CASE("durations: what people write") {
    CHECK(*parse_fsd("90") == std::chrono::seconds(90));
    CHECK(*parse_fsd("1.5h") == std::chrono::seconds(5400));
    CHECK(*parse_fsd("250ms") == Duration{250'000});
    CHECK(*parse_fsd("7d") == std::chrono::seconds(604800));
    CHECK(*parse_fsd("infinity") == Duration::max());
    for (const char* text : {"", "h", "1.5x", "-1s", "1e400", "1 s", "nan", "99999999999999d"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_fsd(text).has_value());
    }
    for (const char* text : {"inf", "INF", "INFINITY"}) {
        CHECK(*parse_fsd(text) == Duration::max());
    }
    CHECK(parse_fsd("x").error().message.find("1.5h") != std::string::npos);
    CHECK(encode_fsd(std::chrono::seconds(5400)) == "90m");
    CHECK(encode_fsd(Duration{1'500'001}) == "1.500001s");
}

TEST_CASE("durations: seconds, as jobspecs have them") {
    CHECK(*parse_fsd_seconds("1.5h") == 5400.);
    CHECK(*parse_fsd_seconds("100ms") == 0.1);
    CHECK(*parse_fsd_seconds("42") == 42.);
    CHECK(std::isinf(*parse_fsd_seconds("inf")));
    CHECK_FALSE(parse_fsd_seconds("5 weeks").has_value());
}

// Kills: "16" taken as 16 seconds by somebody who meant days.
TEST_CASE("durations: a setting needs its unit, but for 0") {
    CHECK(*parse_fsd_with_unit("16d") == std::chrono::seconds(16 * 86400));
    CHECK(*parse_fsd_with_unit("0") == Duration{});
    CHECK(*parse_fsd_with_unit("0.0") == Duration{});
    CHECK(*parse_fsd_with_unit("infinity") == Duration::max());
    CHECK(parse_fsd_with_unit("1.5").error().message ==
          "\"1.5\" has no unit; write \"1.5s\", \"1.5m\", \"1.5h\" or \"1.5d\"");
    CHECK_FALSE(parse_fsd_with_unit("16").has_value());
    CHECK(parse_fsd_with_unit("soon").error().message == parse_fsd("soon").error().message);
}

// Kills: a unit that is off by a power of ten; decimals without leading zeros.
TEST_CASE("durations: what is written is read back") {
    draw::property("round trip", [] {
        const auto us = draw::arbitrary<bool>() ? draw::in_range<std::int64_t>(0, 5'000'000)
                                                : draw::in_range<std::int64_t>(0, 100'000) * 1'000'000;
        RC_ASSERT(*parse_fsd(encode_fsd(Duration{us})) == Duration{us});
    });
}
