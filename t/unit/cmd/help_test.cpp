// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/cli/help.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

const Command nice_command{
    "nice",
    "lower one of your waiting jobs",
    {"weir nice ƒ1 5  # five steps down", "weir nice ƒ1 0  # back to normal", "weir nice ƒ1 20  # hm"},
    {"JOB N", 2, 2},
    {{"reason", 'm', "TEXT", "kept with the change"}}};

}  // namespace

TEST_CASE("help: a command's help begins with its examples") {
    CHECK(command_help(nice_command) == R"(weir nice: lower one of your waiting jobs.

Examples
  weir nice ƒ1 5   # five steps down
  weir nice ƒ1 0   # back to normal
  weir nice ƒ1 20  # hm

Usage
  weir nice [OPTIONS] JOB N

Options
  -m, --reason=TEXT  kept with the change

For every command
      --uri=URI  the instance to talk to (default: $FLUX_URI, else the one started by `weir start`)
      --json     print JSON, one object with a "schema" member
  -h, --help     print this help

Exit codes
  0 done, 1 failed, 2 usage, 3 no instance or module, 4 not permitted, 5 no such thing,
  6 the tree has changed since it was read, 7 invalid share tree,
  130 interrupted (Ctrl-C)
)");
}

TEST_CASE("help: a group lists its commands") {
    Command show = nice_command;
    show.name = "share show";
    const std::string text = group_help("share", {nice_command, show});
    CHECK(text.find("share show  lower") != std::string::npos);
    CHECK(text.find("\n  nice") == std::string::npos);
}
