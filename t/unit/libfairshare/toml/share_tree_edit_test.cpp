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
EditedText set_shares(std::string_view in, std::string_view path, int shares) {
    return set_field_line(in, path, "shares", std::to_string(shares));
}
std::string replaced(std::string_view what, std::string_view with) {
    std::string copy{text};
    return copy.replace(copy.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("edit: new shares change the number and no other byte") {
    CHECK(done(set_shares(text, "physics", 5)) == replaced("= 3   #", "= 5   #"));
    CHECK(done(set_shares(text, "physics/@bob", 7)) == replaced("0x10", "7"));
    CHECK(done(set_shares(text, "physics/lattice", 11)) == replaced("shares = 2 ", "shares = 11 "));
    CHECK(done(set_shares(text, "physics/lattice/@al\xc3\xa9", 1)) == replaced("= 12", "= 1"));
    CHECK(done(set_shares(text, "physics/plasma", 9)) ==
          replaced("{ parent = \"physics\" }", "{ shares = 9, parent = \"physics\" }"));
    CHECK(done(set_shares(text, "bio", 1)) == text);
}

TEST_CASE("edit: an unknown node is answered with the nearest") {
    CHECK(refused(set_shares(text, "physics/latice", 5)) ==
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

TEST_CASE("edit: a line that gives its user another default account comes and goes") {
    const std::string two = "\"a\" = 1\n\"a/@x\" = 1\n\"b\" = 1\n\"b/@x\" = 1\n";
    const std::string one = "\"a\" = 1\n\"b\" = 1\n\"b/@x\" = 1\n";
    CHECK(done(remove_node_line(two, "a/@x")) == one);
    CHECK(done(add_node_line(one, "a/@x", 1)) == two);
    CHECK(done(set_field_line(two, "b/@x", "default", "true")).find("default") != std::string::npos);
}

TEST_CASE("edit: a byte order mark stays where it is") {
    const std::string mark = "\xef\xbb\xbf";
    CHECK(done(set_shares(mark + "\"a\" =11 # x\n", "a", 5)) == mark + "\"a\" =5 # x\n");
    CHECK(done(remove_node_line(mark + "\"a\" = 1\n", "a")) == mark);
    CHECK(done(add_node_line(mark, "a", 1)) == mark + "\"a\" = 1\n");
}

TEST_CASE("edit: a faulty text is refused with its mistakes") {
    CHECK(refused(set_shares("\"a\" = \n", "a", 1)).find("not TOML") != std::string::npos);
}

TEST_CASE("edit: any field is set, changed and taken away, and the rest of the line stays") {
    const std::string before =
        "# campus\n"
        "\"bio\" =  10   # ten\n"
        "\"chem\" = { shares = 3, at.debug = 20, cores_max = [64, 128] }  # two at once\n"
        "\"math\" = { at = { debug = 2 } }\n"
        "\"bio/@al\" = \"parent\"\n"
        "\"arts\" = {}\n";
    const auto with = [&](std::string_view what, std::string_view by) {
        std::string copy = before;
        return copy.replace(copy.find(what), what.size(), by);
    };
    const auto set = [&](std::string_view path, std::string_view field, std::string_view value) {
        return done(set_field_line(before, path, field, value));
    };
    CHECK(set("bio", "cores_max", "64") == with("10   #", "{ shares = 10, cores_max = 64 }   #"));
    CHECK(set("bio/@al", "wall_time_max", "\"36h\"") ==
          with("= \"parent\"", "= { shares = \"parent\", wall_time_max = \"36h\" }"));
    CHECK(set("chem", "cores_max", "9") == with("[64, 128]", "9"));
    CHECK(set("chem", "at.debug", "7") == with("at.debug = 20", "at.debug = 7"));
    CHECK(set("chem", "at.night", "7") == with("[64, 128]", "[64, 128], at.night = 7"));
    CHECK(set("chem", "target", "[\"16.5+\", \"30%\"]") ==
          with("[64, 128]", "[64, 128], target = [\"16.5+\", \"30%\"]"));
    CHECK(set("math", "at.night", "5") == with("debug = 2 }", "debug = 2, night = 5 }"));
    CHECK(set("math", "running_jobs_max", "5") == with("{ at", "{ running_jobs_max = 5, at"));
    CHECK(set("math", "shares", "5") == with("{ at", "{ shares = 5, at"));
    CHECK(set("arts", "nodes_max", "5") == with("{}", "{ nodes_max = 5 }"));

    CHECK(set("chem", "shares", "") == with("shares = 3, at", "at"));
    CHECK(set("chem", "at.debug", "") == with("at.debug = 20, ", ""));
    CHECK(set("chem", "cores_max", "") == with(", cores_max = [64, 128]", ""));
    CHECK(set("math", "at.debug", "") == with("at = { debug = 2 }", ""));
    CHECK(refused(set_field_line(before, "bio", "cores_max", "")) ==
          "share tree: \"bio\" has no field \"cores_max\" to take away");
    CHECK(refused(set_field_line(before, "bio", "shares", "")).find("to take away") != std::string::npos);
}

TEST_CASE("edit: the last field of a table in braces takes the table along, and an empty one is filled") {
    const std::string before = "\"a\" = { shares = 3, at = { debug = 2 }, cores_max = 9 }\n";
    const std::string without = done(set_field_line(before, "a", "at.debug", ""));
    CHECK(without == "\"a\" = { shares = 3, cores_max = 9 }\n");
    CHECK(done(set_field_line(without, "a", "at.night", "5")) ==
          "\"a\" = { shares = 3, cores_max = 9, at.night = 5 }\n");
    CHECK(done(set_field_line("\"a\" = { at = { debug = 2, night = 5 } }\n", "a", "at.night", "")) ==
          "\"a\" = { at = { debug = 2 } }\n");
    CHECK(done(set_field_line("\"a\" = { shares = 3, at = {  } }\n", "a", "at.night", "5")) ==
          "\"a\" = { shares = 3, at = { night = 5 } }\n");
}

TEST_CASE("edit: a list over several lines belongs to its node's line") {
    const std::string node = "\"a\" = { shares = 3, projects = [\n  \"x\",\n  \"y\" ] }  # two\n";
    const std::string both = node + "\"b\" = 1\n";
    CHECK(done(add_node_line(both, "a/@al", 2)) == node + "\"a/@al\" = 2\n\"b\" = 1\n");
    CHECK(done(remove_node_line(both, "a")) == "\"b\" = 1\n");
    CHECK(done(set_shares(both, "a", 4)) == "\"a\" = { shares = 4" + both.substr(both.find(", projects")));
}

TEST_CASE("edit: a field that would not hold is refused with what would be right") {
    CHECK(refused(set_field_line(text, "bio", "cores_min", "5")).find("cores_max") != std::string::npos);
    CHECK(refused(set_field_line(text, "bio", "cores_max", "many")).find("not TOML") != std::string::npos);
    CHECK(refused(set_field_line(text, "bio", "cores_max", "-5")).find("cores_max") != std::string::npos);
    CHECK(refused(set_field_line(text, "bio", "cores_max", "5 }\n\"x\" = { shares = 1")).find("one line") !=
          std::string::npos);
    CHECK(refused(set_field_line(text, "bio", "cores_max", "5 # five")).find("no comment") != std::string::npos);
    CHECK(refused(set_field_line(text, "bio", "cores_max", "5, shares = 9")).find("shares") != std::string::npos);
}
