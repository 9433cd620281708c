// SPDX-License-Identifier: LGPL-3.0-only
// J: the header that stock Flux writes is read; everything else is refused with a reason.
#include <catch2/catch.hpp>

#include "libfairshare/base/signed_jobspec.hpp"

using namespace weir;

TEST_CASE("J: what flux-core signs is unwrapped") {
    const auto got = unwrap_signed("dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30=.none");
    REQUIRE(got);
    CHECK(got->userid == 0);
    CHECK(got->jobspec == "{}");
    CHECK(sign_none("{}", 0) == "dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30=.none");
}

TEST_CASE("J: signing and unwrapping are inverse") {
    for (const std::string text : {"", "a", "ab", "abc", "{\"x\":\"\xc3\xa4\"}"}) {
        const auto got = unwrap_signed(sign_none(text, 5001));
        REQUIRE(got);
        CHECK(got->userid == 5001);
        CHECK(got->jobspec == text);
    }
}

TEST_CASE("J: malformed input is refused") {
    for (const char* text : {"", "abc", "a.b", "!!!!.e30=.none", "e30=.e30=.none",
                             "dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30.none",
                             "dmVyc2lvbgBpMQB1c2VyaWQAaTAAbWVjaGFuaXNtAHNub25lAA==.e30=.munge"})
        CHECK_FALSE(unwrap_signed(text));
}
