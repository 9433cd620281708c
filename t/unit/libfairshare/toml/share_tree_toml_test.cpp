// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/toml/share_tree_toml.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

std::string toml_errors(std::string_view text) {
    const auto parsed = parse_share_tree(text, "s.toml");
    const auto* diagnostics = std::get_if<Diagnostics>(&parsed);
    return diagnostics == nullptr ? "" : to_string(*diagnostics);
}

}  // namespace

TEST_CASE("share tree text: one line a node, in both forms, with comments and header") {
    const auto parsed = parse_share_tree(R"(# campus
"physics" = 3              # the big one
"physics/lattice" = { shares = 2 }
"@alice" = { parent = "lattice", shares = 5 }
bio = 1
"bio/@*" = 1
"chem" = {}

[weir]
version = 1
)");
    REQUIRE(std::holds_alternative<ShareTree>(parsed));
    const auto& tree = std::get<ShareTree>(parsed);
    CHECK(tree.shares(at(tree, "physics")) == 3);
    CHECK(tree.shares(at(tree, "physics/lattice")) == 2);
    CHECK(tree.shares(at(tree, "physics/lattice/@alice")) == 5);
    CHECK(tree.shares(at(tree, "chem")) == 1);
    CHECK(tree.kind(at(tree, "bio/@*")) == NodeKind::any_member);
}

TEST_CASE("share tree text: the order of the lines is kept") {
    const auto parsed = parse_share_tree("\"z\" = 1\n\"a\" = 1\n\"z/@u\" = 1\n\"a/@u\" = 1\n");
    const auto& tree = std::get<ShareTree>(parsed);
    CHECK(tree.association("", "u")->account == at(tree, "z"));
}

TEST_CASE("share tree text: mistakes have line and column") {
    CHECK(toml_errors("\"a\" = 1\n  \"b/@u\" = 1\n") ==
          "s.toml:2:3: unknown parent \"b\" of \"b/@u\"; did you mean \"a\"?");
    CHECK(toml_errors("\"a\" = 1.5\n") ==
          "s.toml:1:7: shares of \"a\" are 1.5; give a whole number from 0 to 4294967295 or \"parent\"");
    CHECK(toml_errors("\"a\" = \"two\"\n") ==
          "s.toml:1:7: shares of \"a\" are \"two\"; give a whole number from 0 to 4294967295 or \"parent\"");
    CHECK(toml_errors("\"a\" = -3\n") ==
          "s.toml:1:1: shares of \"a\" are -3; give a whole number from 0 to 4294967295");
    CHECK(toml_errors("\"a\" = { share = 2 }\n") ==
          "s.toml:1:9: unknown key \"share\" of \"a\"; did you mean \"shares\"?");
}

TEST_CASE("share tree text: a duplicate key names the first line") {
    CHECK(toml_errors("\"a\" = 1\n\"b\" = 1\n\"a\" = 2\n") ==
          "s.toml:3:1: duplicate \"a\"; first on line 1; keep one of the two");
}

TEST_CASE("share tree text: every syntax error is told, not the first alone") {
    const std::string told =
        toml_errors("\"a = 1\n\"b\" = 1\n\"c\" = \n\"d\" 4\n\"b/@u\" = 1\n\"b/@u\" = 1\n\"e\" = -1\n");
    CAPTURE(told);
    CHECK(std::count(told.begin(), told.end(), '\n') == 4);
    for (const char* line : {"s.toml:1:", "s.toml:3:", "s.toml:4:", "s.toml:6:1: duplicate", "s.toml:7:1: shares"}) {
        CHECK(told.find(line) != std::string::npos);
    }
}

TEST_CASE("share tree text: what stands below a faulty line is not told as an orphan") {
    CHECK(toml_errors("\"a\" = oops\n\"a/@u\" = 1\n").find("unknown parent") == std::string::npos);
}

TEST_CASE("share tree text: cycles are shown") {
    CHECK(toml_errors("\"a\" = { parent = \"b\" }\n\"b\" = { parent = \"a\" }\n") ==
          "s.toml:1:1: cycle: a -> b -> a; give one of them a parent outside the cycle, or none");
}

TEST_CASE("share tree text: tables and keys in the wrong place say where they belong") {
    CHECK(toml_errors("physics.lattice = 1\n").find("\"physics\" is a table; write one line a node, paths in quotes") !=
          std::string::npos);
    CHECK(toml_errors("[weir]\n\"a\" = 1\n").find("s.toml:2:1: unknown key \"a\" in [weir]; write nodes above the") ==
          0);
    CHECK(toml_errors("[weir]\nversion = 2\n").find("version 1") != std::string::npos);
    CHECK(toml_errors("\"a\" = { parent = 3 }\n").find("is no text") != std::string::npos);
}

TEST_CASE("share tree text: multi-line text is refused where it begins") {
    const std::string told = toml_errors("\"a\" = \"\"\"x\n\n\"b\" = -1\n");
    CHECK(told.find("s.toml:1:7: multi-line text has no place") == 0);
    CHECK(told.find("s.toml:3:1: shares of \"b\" are -1") != std::string::npos);
    CHECK(toml_errors("\"a\" = { parent = \"\" }\n").empty());  // an empty text is none
}

TEST_CASE("share tree text: characters beyond ASCII need quotes, comments may have them") {
    CHECK(toml_errors("\xc3\xa4 = 1\n").find("s.toml:1:1: a character beyond ASCII is outside quotes") == 0);
    CHECK(toml_errors("\"b\"\xe3\x81\x82 = 1\n\"c\" = 1 # \xc3\xa4 \"\n").find("s.toml:1:4: a character") == 0);
    CHECK(toml_errors("\"\xc3\xa4\" = 1 # \xc3\xa4\n'\xc3\xb6' = 1\n\"\\u00fc\" = 1\n").empty());
}

TEST_CASE("share tree text: columns count characters") {
    CHECK(toml_errors("\"\xc3\xa4\xc3\xb6\" = 1.5\n").find("s.toml:1:8: shares of \"\xc3\xa4\xc3\xb6\" are 1.5") == 0);
}

TEST_CASE("share tree text: the canonical form goes depth first without members") {
    const ShareTree tree = tree_of({{"b", 1}, {"a", 2}, {"b/@*", 3}, {"a/@u", 4}, {"b/c", 0}});
    const ShareTree grown = tree.with_member(at(tree, "b"), "w")->first;
    CHECK(write_share_tree(grown) == "\"b\" = 1\n\"b/@*\" = 3\n\"b/c\" = 0\n\"a\" = 2\n\"a/@u\" = 4\n");
}

TEST_CASE("share tree text: an empty text is the lone root") {
    CHECK(std::get<ShareTree>(parse_share_tree("")).size() == 1);
    CHECK(std::get<ShareTree>(parse_share_tree("# nothing\n")).size() == 1);
}
