// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/log_line.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cmd/instance/log_tail.hpp"

using namespace weir::cmd;
using Lines = std::vector<std::string>;

TEST_CASE("log line: a line of the ring") {
    const LogLine line = parse_ring_line("<32>1 1970-01-02T00:00:00.250000Z 0 job-priority 17 - - [weir] x: no effect");
    CHECK(line.time == 86400.25);
    CHECK(line.severity == 4);
    CHECK(line.app == "job-priority");
    CHECK(line.text == "[weir] x: no effect");
    CHECK(parse_ring_line("<11>1 - 0 app - - - y").severity == 3);
    CHECK(parse_ring_line("plain text").text == "plain text");
    CHECK(parse_ring_line("plain text").severity == 6);
    for (const char* cut : {"", "<", "<>", "<32>", "<32>1", "<32>1 2026", "<x>1 a b c"}) {
        CHECK(parse_ring_line(cut).time == 0);
    }
}

TEST_CASE("log line: a line of the file, and what is none") {
    const auto line = parse_file_line("1970-01-02T00:00:00.250000Z job-priority.warning[0]: a: b.err[0]: c");
    REQUIRE(line);
    CHECK(line->time == 86400.25);
    CHECK(line->severity == 4);
    CHECK(line->app == "job-priority");
    CHECK(line->text == "a: b.err[0]: c");
    for (const char* other : {"", "weir-broker: cannot", "1970-01-02T00:00:00Z app: text",
                              "1970-01-02T00:00:00Z app.odd[0]: x", "1970-01-02T00:00:00Z [0]:.err"}) {
        CHECK_FALSE(parse_file_line(other));
    }
}

TEST_CASE("log line: severities have Flux's names") {
    for (int n = 0; n < 8; ++n) {
        CHECK(parse_severity(severity_name(n)) == n);
    }
    CHECK(parse_severity("error") == 3);
    CHECK_FALSE(parse_severity("loud"));
}

TEST_CASE("log tail: only what was added, whole lines, over a rotation") {
    const std::string dir = std::filesystem::temp_directory_path() / ("weir-tail-" + std::to_string(getpid()));
    std::filesystem::create_directories(dir);
    const std::string path = dir + "/log";
    LogTail early(path);
    CHECK(early.lines().empty());
    std::ofstream(path, std::ios::app) << "one\n";
    LogTail tail(path);
    CHECK(early.lines() == Lines{"one"});
    std::ofstream(path, std::ios::app) << "two\nthr";
    CHECK(tail.lines() == Lines{"two"});
    std::ofstream(path, std::ios::app) << "ee\nfour\n";
    std::filesystem::rename(path, path + ".1");
    std::ofstream(path, std::ios::app) << "five\n";
    CHECK(tail.lines() == Lines{"three", "four", "five"});
    CHECK(tail.lines().empty());
    std::filesystem::remove_all(dir);
}
