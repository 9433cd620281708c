// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/cli/suggest.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

TEST_CASE("suggest: the nearest name, and none where all are far") {
    const std::vector<std::string> names{"submit", "share", "start", "jobs"};
    CHECK(nearest("sumbit", names) == "submit");
    CHECK(nearest("shar", names) == "share");
    CHECK(nearest("job", names) == "jobs");
    CHECK(nearest("subm", names) == "submit");
    CHECK(nearest("frobnicate", names).empty());
    CHECK(nearest("", names).empty());
}
