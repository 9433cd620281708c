// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/tree/share_tree_builder.hpp"

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

std::string errors(const std::vector<NodeSpec>& list) {
    const auto built = build_share_tree(list, "f");
    const auto* diagnostics = std::get_if<Diagnostics>(&built);
    return diagnostics == nullptr ? "" : to_string(*diagnostics);
}
std::string errors(const Lines& lines) {
    return errors(specs(lines));
}
NodeSpec named(std::string name, std::string parent, std::uint32_t line) {
    return {std::move(name), std::move(parent), 1, {line, 1}};
}

}  // namespace

TEST_CASE("builder: an unknown parent is told with the nearest name") {
    CHECK(errors({{"physics", 1}, {"phisics/@bob", 1}}) ==
          "f:2:1: unknown parent \"phisics\" of \"phisics/@bob\"; did you mean \"physics\"?");
    CHECK(errors({{"physics", 1}, {"chemistry/@bob", 1}}) ==
          "f:2:1: unknown parent \"chemistry\" of \"chemistry/@bob\"; add the line \"chemistry\" = 1");
}

TEST_CASE("builder: a duplicate names the first line") {
    CHECK(errors({{"a", 1}, {"a/@u", 1}, {"a/@u", 2}}) ==
          "f:3:1: duplicate \"a/@u\"; first on line 2; keep one of the two");
}

TEST_CASE("builder: the same node in both forms is a duplicate") {
    auto list = specs({{"a", 1}, {"a/b", 1}});
    list.push_back(named("b", "a", 3));
    CHECK(errors(list) == "f:3:1: duplicate \"a/b\"; first on line 2; keep one of the two");
}

TEST_CASE("builder: a cycle is shown as a path, once") {
    CHECK(errors({named("a", "b", 1), named("b", "c", 2), named("c", "a", 3), named("@u", "b", 4)}) ==
          "f:1:1: cycle: a -> b -> c -> a; give one of them a parent outside the cycle, or none");
    CHECK(errors({named("a", "a", 1)}) == "f:1:1: cycle: a -> a; give one of them a parent outside the cycle, or none");
}

TEST_CASE("builder: a tail that leads into a cycle is no part of it") {
    CHECK(errors({named("t", "a", 1), named("a", "b", 2), named("b", "a", 3)}) ==
          "f:2:1: cycle: a -> b -> a; give one of them a parent outside the cycle, or none");
}

TEST_CASE("builder: shares out of range") {
    CHECK(errors({{"a", -1}}) == "f:1:1: shares of \"a\" are -1; give a whole number from 0 to 4294967295");
    CHECK(errors({{"a", 4294967296}}) ==
          "f:1:1: shares of \"a\" are 4294967296; give a whole number from 0 to 4294967295");
    CHECK(errors({{"a", 4294967295}, {"b", 0}}).empty());
}

TEST_CASE("builder: users have no nodes below them, in either form") {
    CHECK(errors({{"a", 1}, {"a/@u", 1}, {"a/@u/b", 1}}) ==
          "f:3:1: \"a/@u/b\" is below the user \"@u\"; users have no nodes below them; accounts have no at sign");
    auto list = specs({{"a", 1}, {"a/@u", 1}});
    list.push_back(named("b", "@u", 3));
    CHECK(errors(list) ==
          "f:3:1: \"b\" has the user \"@u\" as its parent; users have no nodes below them; name an account");
}

TEST_CASE("builder: components must be names") {
    CHECK(errors({{"a//b", 1}}) ==
          "f:1:1: \"a//b\" is not a path: it has an empty component; write paths like \"physics/lattice/@alice\"");
    for (const char* path : {"", "/a", "a/", "a b", "a@b", "@", "a*", "@a*", "a\tb", "a=b", "a#b", "\"a\""}) {
        CAPTURE(path);
        CHECK_FALSE(errors({{path, 1}}).empty());
    }
    for (const char* path : {"a.b-c_d+e:f", "\xc3\xa4ther", "@user.name", "1", "@*"}) {
        CAPTURE(path);
        CHECK(errors({{path, 1}}).empty());
    }
}

TEST_CASE("builder: everything wrong is told at once, by line") {
    const std::string told = errors({{"a", -1}, {"b/@u", 1}, {"a/@v", 1}, {"a/@v", 1}, {"c c", 1}});
    CHECK(std::count(told.begin(), told.end(), '\n') == 3);
    CHECK(told.find("f:1:1: shares") == 0);
    CHECK(told.find("f:2:1: unknown parent \"b\"") != std::string::npos);
    CHECK(told.find("f:4:1: duplicate") != std::string::npos);
    CHECK(told.find("f:5:1: \"c c\" is not a path") != std::string::npos);
}

TEST_CASE("builder: name and parent form, by name, by path, below each other, in any order") {
    std::vector<NodeSpec> list{named("@u", "deep", 1), named("deep", "lattice", 2), named("lattice", "physics", 3)};
    const auto paths = specs({{"physics", 1}, {"physics/lattice/@v", 1}});
    list.insert(list.end(), paths.begin(), paths.end());
    list.push_back(named("@w", "physics/lattice/deep", 6));
    list.push_back(named("bio", "", 7));
    const auto built = build_share_tree(list);
    REQUIRE(std::holds_alternative<ShareTree>(built));
    const auto& tree = std::get<ShareTree>(built);
    for (const char* path : {"physics/lattice/deep/@u", "physics/lattice/@v", "physics/lattice/deep/@w", "bio"}) {
        CAPTURE(path);
        CHECK(tree.find(path));
    }
}

TEST_CASE("builder: an ambiguous parent lists its lines") {
    auto list = specs({{"a", 1}, {"b", 1}, {"a/x", 1}, {"b/x", 1}});
    list.push_back(named("@u", "x", 5));
    CHECK(errors(list) == "f:5:1: parent \"x\" of \"@u\" is ambiguous: lines 3, 4; give the parent's full path");
}

TEST_CASE("builder: a path and a parent exclude each other") {
    auto list = specs({{"a", 1}});
    list.push_back(named("a/b", "a", 2));
    CHECK(errors(list) ==
          "f:2:1: \"a/b\" is a path and has a parent too; give the path alone, or the last component and `parent`");
}

TEST_CASE("builder: what stands below a faulty node is not told again") {
    auto list = specs({{"x/@u", 1}});
    list.insert(list.begin(), named("x", "nowhere", 9));
    CHECK(errors(list) == "f:9:1: unknown parent \"nowhere\" of \"x\"; add the line \"nowhere\" = 1");
}

TEST_CASE("builder: depth and sums have limits that are told") {
    Lines lines;
    std::string path;
    for (int i = 0; i < 65; ++i) {
        path += (i == 0 ? "" : "/") + std::string{"a"};
        lines.emplace_back(path, 1);
    }
    CHECK(errors(lines).find("is deeper than 64 levels") != std::string::npos);
    lines.pop_back();
    CHECK(errors(lines).empty());
    Lines wide;
    for (int i = 0; i < 65538; ++i) {
        wide.emplace_back("@u" + std::to_string(i), 4294967295);
    }
    CHECK(errors(wide).find("add up to more than 2^48") != std::string::npos);
    wide.resize(65536);
    CHECK(errors(wide).empty());
}
