// SPDX-License-Identifier: LGPL-3.0-only
// J: the header that stock Flux writes is read; everything else is refused with a reason.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/codecs/signed_jobspec.hpp"

using namespace weir::broker::jobs;

TEST_CASE("J: what flux-core signs is unwrapped") {
    const auto got = unwrap("dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30=.none");
    REQUIRE(got);
    CHECK(got->userid == 0);
    CHECK(got->jobspec == "{}");
}

TEST_CASE("J: wrap and unwrap are inverse") {
    for (const std::string text : {"", "a", "ab", "abc", "{\"x\":\"\xc3\xa4\"}"}) {
        const auto got = unwrap(wrap(5001, text));
        REQUIRE(got);
        CHECK(got->userid == 5001);
        CHECK(got->jobspec == text);
    }
}

TEST_CASE("J: malformed input is refused") {
    for (const char* text : {"", "abc", "a.b", "!!!!.e30=.none", "e30=.e30=.none",
                             "dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30.none",
                             "dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30=.munge"})
        CHECK_FALSE(unwrap(text));
}
