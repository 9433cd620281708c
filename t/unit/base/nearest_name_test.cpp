// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/nearest_name.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace weir;

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
    CHECK(nearest_name("chemistry", names).empty());
    CHECK(did_you_mean("boi", names) == "did you mean \"bio\"?");
    CHECK(did_you_mean("chemistry", names).empty());
}

TEST_CASE("nearest name: the beginning of a name is one edit away") {
    const std::vector<std::string> names{"submit", "share", "start", "jobs"};
    CHECK(nearest_name("sumbit", names) == "submit");
    CHECK(nearest_name("shar", names) == "share");
    CHECK(nearest_name("job", names) == "jobs");
    CHECK(nearest_name("subm", names) == "submit");
    CHECK(nearest_name("frobnicate", names).empty());
    CHECK(nearest_name("", names).empty());
}
