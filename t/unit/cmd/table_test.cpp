// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/table.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

Table jobs_table() {
    Table table({{"job"}, {"name", Align::left, 0, 4}, {"queue", Align::left, 1}, {"cores", Align::right}});
    table.add({"ƒ2", "a-rather-long-name", "batch", "8"});
    table.add({"ƒ11", "x", "debug", "128"});
    return table;
}
Screen wide(std::size_t width) {
    Screen screen;
    screen.width = width;
    return screen;
}

}  // namespace

TEST_CASE("table: natural widths, no trailing blanks") {
    CHECK(jobs_table().text(wide(0)) ==
          "job  name                queue  cores\n"
          "ƒ2   a-rather-long-name  batch      8\n"
          "ƒ11  x                   debug    128\n");
    Table empty_end({{"a"}, {"b"}});
    empty_end.add({"1"});
    CHECK(empty_end.text(wide(0), false) == "1\n");
}

TEST_CASE("table: what may be cut is cut before a column goes") {
    CHECK(jobs_table().text(wide(26)) ==
          "job  name     queue  cores\n"
          "ƒ2   a-rath…  batch      8\n"
          "ƒ11  x        debug    128\n");
}

TEST_CASE("table: the least wanted column goes next, and room is shared anew") {
    CHECK(jobs_table().text(wide(22)) ==
          "job  name        cores\n"
          "ƒ2   a-rather-…      8\n"
          "ƒ11  x             128\n");
}

// Mutant: cmd/common/table.cpp: cell = printable(cell); => (void)cell;
TEST_CASE("table: no cell writes to the terminal") {
    Table table({{"user"}, {"account"}});
    table.add({"alice", "phys\x1b[2Jics\u202e"});
    Screen screen = wide(0);
    screen.color = true;
    CHECK(table.text(screen) == "\x1b[2muser   account\x1b[0m\nalice  phys?[2Jics?\n");
}

TEST_CASE("table: colour only on a terminal") {
    Screen screen = wide(0);
    screen.color = true;
    CHECK(jobs_table().text(screen).find("\x1b[2m") == 0);
    CHECK(jobs_table().text(wide(0)).find('\x1b') == std::string::npos);
}
