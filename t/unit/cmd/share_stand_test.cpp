// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/view/share_stand.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

Json parsed(const std::string& text) {
    auto json = Json::parse(text);
    REQUIRE(json);
    return std::move(*json);
}

const char* const physics = R"({"path": "physics", "kind": "account", "shares": 60, "level_shares": 100,
    "norm_shares": 0.6, "entitled": 0.6, "usage_core_s": 3600, "norm_usage": 0.25, "level_usage": 0.25,
    "effective_usage": 0.25, "level_fs": 2.4, "factor": null, "ahead": 0})";
const char* const alice = R"({"path": "physics/@alice", "kind": "user", "shares": 2, "level_shares": 3,
    "norm_shares": 0.6667, "entitled": 0.4, "usage_core_s": 0, "norm_usage": 0, "level_usage": 0,
    "effective_usage": 0, "level_fs": null, "factor": null, "ahead": 1})";

Screen ascii() {
    Screen screen;
    screen.glyphs.unicode = false;
    return screen;
}

}  // namespace

TEST_CASE("share explain: a row a level, then what holds it down") {
    const Json answer = parsed(std::string(R"({"path": "physics/@alice", "rank": 2, "associations": 3, "tied": 0,
        "factor": 0.66667, "algorithm": "fair-tree", "parent_factors": false, "is_member": true,
        "reason": "rank 2 of 3: 1 goes before it", "projects": ["qed", "qcd", "*"], "levels": [)") +
                               physics + "," + alice + "]}");
    CHECK(
        share_explain_text(answer.get(), ascii()) ==
        "physics/@alice: rank 2 of 3, factor 0.6667 by fair-tree\n"
        "\n"
        "level              shares  of level  of all  usage, core-h  of level  of all  effective  level value  ahead\n"
        "physics         60 of 100    60.0 %  60.0 %           1.00    25.0 %  25.0 %     25.0 %       2.4000      0\n"
        "physics/@alice     2 of 3    66.7 %  40.0 %           0.00     0.0 %   0.0 %      0.0 %          inf      1\n"
        "\n"
        "rank 2 of 3: 1 goes before it.\n"
        "Projects: qed (default), qcd, *\n");
}

TEST_CASE("share explain: an account with its parent's shares has no level value; a newcomer and a child are told") {
    const Json answer =
        parsed(R"({"path": "bio/@zoe", "rank": 1, "associations": 1, "factor": 1, "algorithm": "classic",
        "parent_factors": true, "is_member": false, "reason": "first", "levels": [
        {"path": "bio", "kind": "account", "shares": "parent", "level_shares": 1, "level_fs": null},
        {"path": "bio/@zoe", "kind": "user", "shares": "parent", "level_shares": 1, "level_fs": null}]})");
    const std::string text = share_explain_text(answer.get(), Screen{});
    CHECK(text.find("bio/@zoe (no job yet: as a member by an @* line): rank 1 of 1") == 0);
    CHECK(text.find("parent instance") != std::string::npos);
    const auto line = [&](const std::string& begin) {
        const std::size_t at = text.find("\n" + begin) + 1;
        return text.substr(at, text.find('\n', at) - at);
    };
    CHECK(line("bio ").find(" - ") != std::string::npos);
    CHECK(line("bio/@zoe ").find("∞") != std::string::npos);
}

TEST_CASE("share after: factor, rank and usage, before and after the job") {
    const Json answer = parsed(R"({"path": "physics/@alice", "algorithm": "fair-tree", "cores": 64, "seconds": 43200,
        "factor": 0.75, "factor_after": 0.25, "rank": 1, "rank_after": 3, "associations": 3, "used": 0.1,
        "used_after": 0.4, "entitled": 0.3})");
    CHECK(share_after_text(answer.get(), ascii()) ==
          "physics/@alice, before and after a job of 64 cores for 12h, by fair-tree\n\n"
          "           now   after\n"
          "factor  0.7500  0.2500\n"
          "rank    1 of 3  3 of 3\n"
          "usage   10.0 %  40.0 %\n\n"
          "It is entitled to 30.0 %.\n");
}

TEST_CASE("share compare: who goes first is marked at the level where they part") {
    const Json answer = parsed(std::string(R"({"a": {"path": "physics", "rank": 1, "factor": 0.5},
        "b": {"path": "physics/@alice", "rank": 2, "factor": 1}, "common": "", "first": "b", "algorithm": "fair-tree",
        "reason": "because\u001b[31m", "level_a": )") +
                               physics + ", \"level_b\": " + alice + "}");
    const std::string text = share_compare_text(answer.get(), ascii());
    CHECK(text.find("physics: rank 1, factor 0.5000\nphysics/@alice: rank 2, factor 1.0000, both by fair-tree\n\n"
                    "where they differ") == 0);
    CHECK(text.find("2.4000       \n") == std::string::npos);  // no trailing blanks
    CHECK(text.find("inf    yes\n") != std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
}

TEST_CASE("share compare: one and the same has no level") {
    const Json answer = parsed(R"({"a": {"path": "a/@u", "rank": 1, "factor": 1}, "b": {"path": "a/@u", "rank": 1,
        "factor": 1}, "first": "neither", "level_a": null, "level_b": null, "algorithm": "x", "reason": "the same"})");
    CHECK(share_compare_text(answer.get(), Screen{}) ==
          "a/@u: rank 1, factor 1.0000\na/@u: rank 1, factor 1.0000, both by x\n\nthe same.\n");
}
