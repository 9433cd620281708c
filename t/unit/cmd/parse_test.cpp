// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/cli/parse.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

std::vector<Command> table() {
    return {
        {"submit",
         "run a program",
         {"weir submit hostname  # run it"},
         {"COMMAND...", 1, SIZE_MAX, true},
         {{"ntasks", 'n', "N", "tasks", Kind::integer, 1, 100},
          {"time-limit", 't', "FSD", "limit", Kind::duration},
          {"queue", 'q', "NAME", "queue"},
          {"wait", 'w', "", "wait", Kind::flag}}},
        {"nice", "lower a job", {"weir nice ƒ1 5  # five steps"}, {"JOB N", 2, 2}, {}},
        {"share show", "the tree", {"weir share show  # all of it"}, {"", 0, 0}, {}},
        {"share set",
         "a node's shares",
         {"weir share set chem 40  # at once"},
         {"PATH N", 2, 2},
         {{"dry-run", 0, "", "tell only", Kind::flag}}},
        {"version", "the version", {"weir version  # it"}, {"", 0, 0}, {}},
    };
}
Request ok(const std::vector<std::string>& argv, const std::vector<Command>& commands) {
    auto request = parse(argv, commands);
    INFO((request ? "" : request.error().message));
    REQUIRE(request.has_value());
    return std::move(request).value();
}
std::string error(const std::vector<std::string>& argv) {
    const auto commands = table();
    const auto request = parse(argv, commands);
    REQUIRE_FALSE(request.has_value());
    return request.error().message;
}

}  // namespace

TEST_CASE("parse: options, letters, values inside and apart") {
    const auto commands = table();
    const Request r =
        ok({"submit", "-n4", "--time-limit=10m", "-q", "debug", "--wait", "./a.out", "-n", "9"}, commands);
    CHECK(r.command->name == "submit");
    CHECK(r.args.integer("ntasks", 1) == 4);
    CHECK(r.args.duration("time-limit") == std::chrono::minutes(10));
    CHECK(r.args.text("queue") == "debug");
    CHECK(r.args.has("wait"));
    CHECK(r.args.words == std::vector<std::string>{"./a.out", "-n", "9"});  // the program's own options stay its own
}

TEST_CASE("parse: a value apart belongs to the last letter of a word") {
    const auto commands = table();
    for (const std::vector<std::string>& argv : {std::vector<std::string>{"submit", "-wn", "2", "hostname"},
                                                 {"submit", "-wn2", "hostname"},
                                                 {"submit", "-wqnn", "-n", "2", "hostname"}}) {
        const Request r = ok(argv, commands);
        CHECK(r.args.has("wait"));
        CHECK(r.args.integer("ntasks", 1) == 2);
        CHECK(r.args.words == std::vector<std::string>{"hostname"});
    }
    CHECK(error({"submit", "-wn"}) == "--ntasks needs a value: --ntasks=N.\nTry: weir submit --help");
}

TEST_CASE("parse: an option that a command has no use for is refused") {
    auto commands = table();
    commands.back().has_json = false;
    commands.back().has_uri = false;
    for (const char* option : {"--json", "--uri=local:///x"}) {
        for (const std::vector<std::string>& argv :
             {std::vector<std::string>{"version", option}, {option, "version"}}) {
            const auto request = parse(argv, commands);
            REQUIRE_FALSE(request.has_value());
            CHECK(request.error().message.find("weir version has no option --") == 0);
        }
    }
}

TEST_CASE("parse: an option takes one value, not the words behind it") {
    const auto commands = table();
    const Request r = ok({"nice", "--uri", "local:///x", "ƒ1", "5"}, commands);
    CHECK(r.args.text("uri") == "local:///x");
    CHECK(r.args.words == std::vector<std::string>{"ƒ1", "5"});
}

TEST_CASE("parse: -- ends the options") {
    const auto commands = table();
    CHECK(ok({"submit", "-n2", "--", "--weird", "x"}, commands).args.words == std::vector<std::string>{"--weird", "x"});
}

TEST_CASE("parse: a command line keeps its own --") {
    const auto commands = table();
    CHECK(ok({"submit", "sh", "-c", "x", "--", "y"}, commands).args.words ==
          std::vector<std::string>{"sh", "-c", "x", "--", "y"});
}

TEST_CASE("parse: global options before or after the command") {
    const auto commands = table();
    CHECK(ok({"--uri", "local:///x", "share", "show", "--json"}, commands).args.text("uri") == "local:///x");
    CHECK(ok({"--json", "share", "show"}, commands).args.has("json"));
}

TEST_CASE("parse: a negative number is a word") {
    const auto commands = table();
    CHECK(ok({"nice", "ƒ1", "-5"}, commands).args.words == std::vector<std::string>{"ƒ1", "-5"});
}

TEST_CASE("parse: a group alone is its first command") {
    const auto commands = table();
    CHECK(ok({"share"}, commands).command->name == "share show");
    CHECK(ok({"share", "--json"}, commands).args.has("json"));
}

TEST_CASE("parse: help wins over missing words; on a group with its name, on all with none") {
    const auto commands = table();
    CHECK(ok({"nice", "--help"}, commands).what == Request::What::help);
    CHECK(ok({"share", "-h"}, commands).group == "share");
    CHECK(ok({}, commands).what == Request::What::help);
    CHECK(ok({"--version"}, commands).command->name == "version");
}

TEST_CASE("parse: mistyped names get the nearest one") {
    CHECK(error({"sumbit", "x"}) == "weir has no command \"sumbit\". Did you mean \"weir submit\"?\nTry: weir --help");
    CHECK(error({"share", "shwo"}) ==
          "weir share has no command \"shwo\". Did you mean \"weir share show\"?\nTry: weir share --help");
    CHECK(error({"share", "set", "--dryrun", "a", "1"}) ==
          "weir share set has no option --dryrun. Did you mean --dry-run?\nTry: weir share set --help");
    CHECK(error({"frobnicate"}) == "weir has no command \"frobnicate\".\nTry: weir --help");
}

TEST_CASE("parse: values are checked against their kind and named") {
    CHECK(error({"submit", "-n0", "x"}) ==
          "--ntasks takes a whole number from 1 to 100, not \"0\".\nTry: weir submit --help");
    CHECK(error({"submit", "-t", "soon", "x"}) ==
          "--time-limit takes a duration such as 30s, 10m, 1.5h or 7d, not \"soon\".\nTry: weir submit --help");
    CHECK(error({"submit", "--queue"}) == "--queue needs a value: --queue=NAME.\nTry: weir submit --help");
}

TEST_CASE("parse: words are counted") {
    CHECK(error({"nice", "ƒ1"}) == "weir nice needs JOB N.\nUsage: weir nice JOB N");
    CHECK(error({"nice", "ƒ1", "2", "3"}) == "weir nice takes JOB N; \"3\" is one too many.\nUsage: weir nice JOB N");
    CHECK(error({"submit"}) == "weir submit needs COMMAND....\nUsage: weir submit [OPTIONS] COMMAND...");
    CHECK(error({"share", "show", "x"}) ==
          "weir share show takes no words; \"x\" is one too many.\nUsage: weir share show");
}
