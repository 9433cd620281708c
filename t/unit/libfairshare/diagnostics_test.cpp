// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/diagnostics.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("diagnostic: reads as compilers' messages do") {
    CHECK(to_string(Diagnostic{"shares.toml", {3, 7}, "unknown parent", "add it"}) ==
          "shares.toml:3:7: unknown parent; add it");
    CHECK(to_string(Diagnostic{"", {3, 7}, "odd", ""}) == "line 3:7: odd");
    CHECK(to_string(Diagnostic{"shares.toml", {}, "odd", ""}) == "shares.toml: odd");
}

TEST_CASE("edit distance: a transposition is one step") {
    CHECK(edit_distance("lattice", "latitce", 3) == 1);
    CHECK(edit_distance("abc", "acb", 3) == 1);
    CHECK(edit_distance("", "abc", 3) == 3);
    CHECK(edit_distance("kitten", "sitting", 9) == 3);
}

TEST_CASE("edit distance: stops at the limit") {
    CHECK(edit_distance("kitten", "sitting", 1) == 2);
    CHECK(edit_distance("a", "abcdef", 2) == 3);
}

TEST_CASE("nearest name: the first of the nearest, none where all are far") {
    const std::array<std::string_view, 3> names{"physics", "physic", "bio"};
    CHECK(nearest_name("phisics", names) == "physics");
    CHECK(nearest_name("physics", names) == "physics");
    CHECK(nearest_name("chemistry", names) == std::nullopt);
    CHECK(did_you_mean("boi", names) == "did you mean \"bio\"?");
    CHECK(did_you_mean("chemistry", names).empty());
}
