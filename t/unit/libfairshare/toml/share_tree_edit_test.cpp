// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/toml/share_tree_edit.hpp"

#include "libfairshare/toml/share_tree_toml.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

constexpr std::string_view text =
    "# campus\n"
    "\"physics\"   = 3   # big\n"
    "\"physics/@bob\" = 0x10\n"
    "\"lattice\" = { parent = \"physics\", shares = 2 }  # since May\n"
    "\"physics/lattice/@al\xc3\xa9\" = 12\n"
    "\n"
    "\"bio\" = 1\n"
    "\"plasma\" = { parent = \"physics\" }\n"
    "[weir]\n"
    "version = 1\n";

std::string done(const EditedText& edited) {
    if (const auto* diagnostics = std::get_if<Diagnostics>(&edited)) {
        FAIL(to_string(*diagnostics));
    }
    return std::get<std::string>(edited);
}
std::string refused(const EditedText& edited) {
    REQUIRE(std::holds_alternative<Diagnostics>(edited));
    return to_string(std::get<Diagnostics>(edited));
}
std::string replaced(std::string_view what, std::string_view with) {
    std::string copy{text};
    return copy.replace(copy.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("edit: new shares change the number and no other byte") {
    CHECK(done(set_shares_line(text, "physics", 5)) == replaced("= 3   #", "= 5   #"));
    CHECK(done(set_shares_line(text, "physics/@bob", 7)) == replaced("0x10", "7"));
    CHECK(done(set_shares_line(text, "physics/lattice", 11)) == replaced("shares = 2 ", "shares = 11 "));
    CHECK(done(set_shares_line(text, "physics/lattice/@al\xc3\xa9", 1)) == replaced("= 12", "= 1"));
    CHECK(done(set_shares_line(text, "physics/plasma", 9)) ==
          replaced("{ parent = \"physics\" }", "{ shares = 9, parent = \"physics\" }"));
    CHECK(done(set_shares_line(text, "bio", 1)) == text);
}

TEST_CASE("edit: an unknown node is answered with the nearest") {
    CHECK(refused(set_shares_line(text, "physics/latice", 5)) ==
          "share tree: no node \"physics/latice\"; did you mean \"physics/lattice\"?");
}

TEST_CASE("edit: a new line goes below its parent's last") {
    CHECK(done(add_node_line(text, "physics/lattice/@eve", 2)) ==
          replaced("= 12\n", "= 12\n\"physics/lattice/@eve\" = 2\n"));
    CHECK(done(add_node_line(text, "bio/@eve", 2)) == replaced("\"bio\" = 1\n", "\"bio\" = 1\n\"bio/@eve\" = 2\n"));
    CHECK(done(add_node_line(text, "chem", 2)) == replaced("[weir]", "\"chem\" = 2\n[weir]"));
    CHECK(done(add_node_line("", "chem", 2)) == "\"chem\" = 2\n");
    CHECK(done(add_node_line("[weir]\nversion = 1", "chem", 2)) == "\"chem\" = 2\n[weir]\nversion = 1");
    CHECK(done(add_node_line("\"a\" = 1", "b", 2)) == "\"a\" = 1\n\"b\" = 2\n");
}

TEST_CASE("edit: a line that would break the tree is not added") {
    CHECK(refused(add_node_line(text, "bio", 2)).find("duplicate \"bio\"") != std::string::npos);
    CHECK(refused(add_node_line(text, "boi/@eve", 2)) == "share tree: no node \"boi\"; did you mean \"bio\"?");
    CHECK(refused(add_node_line(text, "bio/@e\"ve", 2)).find("is not a path") != std::string::npos);
    CHECK(refused(add_node_line(text, "bio/\n", 2)).find("is not a path") != std::string::npos);
    CHECK(refused(add_node_line(text, "physics/@bob/x", 2)).find("below the user") != std::string::npos);
}

TEST_CASE("edit: an added account that makes a parent's name ambiguous is refused") {
    const std::string before = "\"p\" = 1\n\"q\" = 1\n\"q/l\" = 1\n\"@u\" = { parent = \"l\" }\n";
    CHECK(refused(add_node_line(before, "p/l", 1)).find("ambiguous") != std::string::npos);
}

TEST_CASE("edit: a removed line goes whole") {
    CHECK(done(remove_node_line(text, "physics/@bob")) == replaced("\"physics/@bob\" = 0x10\n", ""));
    CHECK(refused(remove_node_line(text, "physics/lattice")) ==
          "share tree: \"physics/lattice\" has nodes below it; remove or move those first");
    CHECK(refused(remove_node_line(text, "nowhere")) == "share tree: no node \"nowhere\"");
    CHECK(done(remove_node_line("\"a\" = 1\n\"b\" = 1", "b")) == "\"a\" = 1\n");
}

TEST_CASE("edit: a byte order mark stays where it is") {
    const std::string mark = "\xef\xbb\xbf";
    CHECK(done(set_shares_line(mark + "\"a\" =11 # x\n", "a", 5)) == mark + "\"a\" =5 # x\n");
    CHECK(done(remove_node_line(mark + "\"a\" = 1\n", "a")) == mark);
    CHECK(done(add_node_line(mark, "a", 1)) == mark + "\"a\" = 1\n");
}

TEST_CASE("edit: a faulty text is refused with its mistakes") {
    CHECK(refused(set_shares_line("\"a\" = \n", "a", 1)).find("not TOML") != std::string::npos);
}
