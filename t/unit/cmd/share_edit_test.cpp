// SPDX-License-Identifier: LGPL-3.0-only
// Which changes of shares a page may ask for.
#include "cmd/serve/share_edit.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

TEST_CASE("share edit: a change has a path, shares and the revision that it changes") {
    const auto edit =
        share_edit_from(R"({"path": "chem/@carol", "shares": 9, "base": 3, "reason": "why", "plan": true})");
    REQUIRE(edit);
    CHECK(edit->path == "chem/@carol");
    CHECK(edit->shares == 9);
    CHECK(edit->base == 3);
    CHECK(edit->reason == "why");
    CHECK(edit->is_plan);
    CHECK(!edit->is_undo);
}

TEST_CASE("share edit: a step back needs the revision alone") {
    const auto edit = share_edit_from(R"({"undo": true, "base": 3})");
    REQUIRE(edit);
    CHECK(edit->is_undo);
    CHECK(!edit->is_plan);
}

TEST_CASE("share edit: what is missing, of another kind or out of bounds is refused") {
    for (const char* broken :
         {"", "{", "[]", "null", R"({"path": "a", "shares": 1})", R"({"path": "a", "base": 1})",
          R"({"shares": 1, "base": 1})", R"({"path": "a", "shares": -1, "base": 1})",
          R"({"path": "a", "shares": 4294967296, "base": 1})", R"({"path": "a", "shares": "1", "base": 1})",
          R"({"path": 5, "shares": 1, "base": 1})", R"({"path": "a", "shares": 1, "base": 1, "plan": "yes"})"}) {
        CHECK(!share_edit_from(broken));
    }
}
