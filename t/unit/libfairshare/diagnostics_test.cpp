// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/diagnostics.hpp"

#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("diagnostic: reads as compilers' messages do") {
    CHECK(to_string(Diagnostic{"shares.toml", {3, 7}, "unknown parent", "add it"}) ==
          "shares.toml:3:7: unknown parent; add it");
    CHECK(to_string(Diagnostic{"", {3, 7}, "odd", ""}) == "line 3:7: odd");
    CHECK(to_string(Diagnostic{"shares.toml", {}, "odd", ""}) == "shares.toml: odd");
}
