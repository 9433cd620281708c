// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/log_ring.hpp"

#include <catch2/catch.hpp>

using weir::broker::LogRing;

TEST_CASE("log ring: a formatted line is read back") {
    const std::string line = LogRing::format(86400.25, 3, "kvs", "no such key");
    CHECK(line == "<24>1 1970-01-02T00:00:00.250000Z 0 kvs - - - no such key");
    CHECK(LogRing::severity(line) == 3);
    CHECK(LogRing::appname(line) == "kvs");
    CHECK(LogRing::message(line) == "no such key");
}

TEST_CASE("log ring: priorities of both forms become Flux's") {
    LogRing ring;
    ring.append("<11>1 - 0 app - - - user facility, error");
    CHECK(ring.lines().back() == "<24>1 - 0 app - - - user facility, error");
    ring.append("<24>1 - 0 app - - - Flux's error");
    CHECK(ring.lines().back() == "<24>1 - 0 app - - - Flux's error");
    ring.append("<oops");
    CHECK(ring.lines().back() == "<oops");
    CHECK(LogRing::severity("<15>1 x") == 7);
    CHECK(LogRing::severity("<56>1 x") == 7);
}

TEST_CASE("log ring: the oldest lines go first") {
    LogRing ring(2);
    for (const char* line : {"one", "two", "three"}) {
        ring.append(line);
    }
    CHECK(ring.lines().front() == "two");
    CHECK(ring.lines().back() == "three");
    CHECK(ring.count() == 3);
}

TEST_CASE("log ring: a line without header is kept as it is, its trailing NUL and newline are not") {
    LogRing ring;
    ring.append(std::string("plain text\n\0", 12));
    CHECK(ring.lines().back() == "plain text");
    CHECK(LogRing::severity("plain text") == 6);
    CHECK(LogRing::message("plain text") == "plain text");
    CHECK(LogRing::message("<11>1 cut").empty());
}

TEST_CASE("log ring: a line for people, on one line whatever it holds") {
    CHECK(LogRing::readable(LogRing::format(86400.25, 4, "kvs", "a\nb\x1b[2J")) ==
          "1970-01-02T00:00:00.250000Z kvs.warning[0]: a b [2J");
    CHECK(LogRing::readable("plain\ttext") == "plain text");
}
