// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/json/share_tree_json.hpp"

#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

ShareTree parse_json(std::string_view text) {
    auto parsed = parse_share_tree_json(text, "s.json");
    if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
        FAIL(to_string(*diagnostics));
    }
    return std::get<ShareTree>(std::move(parsed));
}

std::string json_errors(std::string_view text) {
    auto parsed = parse_share_tree_json(text, "s.json");
    auto* diagnostics = std::get_if<Diagnostics>(&parsed);
    return diagnostics != nullptr ? to_string(*diagnostics) : std::string{};
}

}  // namespace

TEST_CASE("share tree JSON: the canonical form is one line a node") {
    const std::string text =
        "{\n  \"version\": 1,\n  \"nodes\": {\n    \"bio\": {\"shares\": 3, \"at\": {\"debug\": 4}, \"target\": "
        "[\"16.5+\", \"30%\"], \"cores_max\": [64, 128], \"wall_time_max\": \"36h\"},\n    \"bio/@*\": \"parent\",\n"
        "    \"bio/@eve:debug\": 0\n  }\n}\n";
    CHECK(write_share_tree_json(parse_json(text)) == text);
    CHECK(write_share_tree_json(ShareTree{}) == "{\n  \"version\": 1,\n  \"nodes\": {}\n}\n");
    CHECK(parse_json(write_share_tree_json(ShareTree{})).size() == 1);
}

TEST_CASE("share tree JSON: escapes, white space and the name + parent form are read") {
    const ShareTree tree = parse_json(
        "{\"nodes\":{ \"caf\\u00e9\" :1,\r\n\t\"b\":{\"parent\":\"caf\xc3\xa9\",\"shares\":2},\"@x\":{ } } }");
    CHECK(tree.shares(at(tree, "caf\xc3\xa9/b")) == 2);
    CHECK(tree.shares(at(tree, "@x")) == 1);
}

TEST_CASE("share tree JSON: all mistakes at once, each with its place") {
    CHECK(json_errors("{\"version\": 1, \"nodes\": {\n"
                      "  \"a\": -1,\n"
                      "  \"\xc3\xa4\": {\"cores_max\": \"x\", \"shares\": 1.5},\n"
                      "  \"b/@u\": 1,\n"
                      "  \"c\": 1,\n"
                      "  \"c\": {\"core_max\": 1}\n}}") ==
          "s.json:2:3: shares of \"a\" are -1; give a whole number from 0 to 4294967295\n"
          "s.json:3:9: `cores_max` of \"\xc3\xa4\" is \"x\"; write a whole number, or [soft, hard]\n"
          "s.json:3:37: shares of \"\xc3\xa4\" are 1.5; give a whole number from 0 to 4294967295 or \"parent\"\n"
          "s.json:4:3: unknown parent \"b\" of \"b/@u\"; did you mean \"a\"?\n"
          "s.json:6:3: duplicate \"c\"; first on line 5; keep one of the two\n"
          "s.json:6:9: unknown key \"core_max\" of \"c\"; did you mean \"cores_max\"?");
}

TEST_CASE("share tree JSON: cycles are shown as a path") {
    CHECK(json_errors(R"({"nodes": {"a": {"parent": "b"}, "b": {"parent": "a"}}})") ==
          "s.json:1:12: cycle: a -> b -> a; give one of them a parent outside the cycle, or none");
}

TEST_CASE("share tree JSON: what is no tree says what would be one") {
    CHECK(json_errors("{\"nodes\": {\"a\": 1,}}").find("s.json:1:") == 0);
    CHECK(json_errors("").find("not JSON") != std::string::npos);
    CHECK(json_errors("[]").find("a share tree is an object") != std::string::npos);
    CHECK(json_errors("{}").find("no \"nodes\"") != std::string::npos);
    CHECK(json_errors("{\"nodes\": []}").find("is no object") != std::string::npos);
    CHECK(json_errors("{\"nodes\": {}, \"nodes\": {}}").find("is there twice") != std::string::npos);
    CHECK(json_errors("{\"nodes\": {\"a\": {\"shares\": 1, \"shares\": 2}}}").find("is there twice") !=
          std::string::npos);
    CHECK(json_errors("{\"version\": 2, \"nodes\": {}}").find("version 1") != std::string::npos);
    CHECK(json_errors("{\"node\": {}}").find("unknown key \"node\"") != std::string::npos);
    CHECK(json_errors("{\"nodes\": {\"a\": null}}").find("shares of \"a\" are null") != std::string::npos);
}
