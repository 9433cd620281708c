// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

TEST_CASE("text: percentages have one decimal, ratios two") {
    CHECK(percent(0.412) == "41.2 %");
    CHECK(percent(1) == "100.0 %");
    CHECK(percent(0) == "0.0 %");
    CHECK(percent(0.0625) == "6.3 %");  // a tie moves away from zero
    CHECK(percent(std::nan("")) == "-");
    CHECK(ratio(1.67) == "1.67×");
    CHECK(ratio(1.67, Glyphs{false}) == "1.67x");
    CHECK(ratio(INFINITY) == "∞");
    CHECK(times_entitled(3, 2) == 1.5);
    CHECK(std::isinf(times_entitled(0.1, 0)));  // used what nobody entitled it to
    CHECK(times_entitled(0, 0) == 0);
    CHECK(fixed(-0.04, 1) == "0.0");
}

TEST_CASE("text: durations show two units") {
    CHECK(duration_text(0s) == "0s");
    CHECK(duration_text(400ms) == "0.4s");
    CHECK(duration_text(990ms) == "1s");
    CHECK(duration_text(45s) == "45s");
    CHECK(duration_text(270s) == "4m 30s");
    CHECK(duration_text(3600s) == "1h");
    CHECK(duration_text(6h + 12min) == "6h 12m");
    CHECK(duration_text(59min + 59s + 700ms) == "1h");
    CHECK(duration_text(76h) == "3d 4h");
    CHECK(duration_text(-90s) == "-1m 30s");
}

TEST_CASE("text: whole numbers are grouped from five digits on") {
    CHECK(grouped(1234) == "1234");
    CHECK(grouped(12345) == "12 345");
    CHECK(grouped(-1234567) == "-1 234 567");
}

// Kills: "0.00" for a day of small jobs.
TEST_CASE("text: core-hours show what small jobs used") {
    CHECK(core_hours(0) == "0.00");
    CHECK(core_hours(1) == "0.0003");
    CHECK(core_hours(0.1) == "<0.0001");
    CHECK(core_hours(150) == "0.0417");
    CHECK(core_hours(3599.9) == "1.00");
    CHECK(core_hours(5400) == "1.50");
    CHECK(core_hours(3.6e6) == "1000");
    CHECK(core_hours(3.6e7) == "10 000");
}

TEST_CASE("text: durations are read as RFC 23 writes them") {
    CHECK(parse_duration("90s") == Duration(90s));
    CHECK(parse_duration("0") == Duration(0s));
    CHECK(parse_duration("1.5h") == Duration(90min));
    CHECK(parse_duration("250ms") == Duration(250ms));
    CHECK(parse_duration("7d") == Duration(7 * 24h));
    for (const char* bad : {"", "s", "90", "-3s", "1e3", "3 m", "10x", "nan", "infinity", "99999999d"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_duration(bad).has_value());
    }
}

TEST_CASE("text: whole numbers keep to their range") {
    CHECK(parse_integer("-5", -15, 16) == -5);
    CHECK_FALSE(parse_integer("17", -15, 16));
    CHECK_FALSE(parse_integer("3x", 0, 9));
    CHECK_FALSE(parse_integer("", 0, 9));
    CHECK_FALSE(parse_integer("99999999999999999999", 0, INT64_MAX));
}

TEST_CASE("text: widths count what a terminal shows") {
    CHECK(columns("ƒ7J4Ab") == 6);
    CHECK(columns("日本") == 4);
    CHECK(columns("e\xCC\x81") == 1);  // a combining accent
    CHECK(clipped("physics/lattice", 8) == "physics…");
    CHECK(clipped("日本語", 4) == "日…");
    CHECK(clipped("abc", 0).empty());
    CHECK(clipped("abcdef", 3, Glyphs{false}) == "ab.");
    CHECK(padded_left("×", 3) == "  ×");
}

TEST_CASE("text: a job's name cannot write to the terminal") {
    CHECK(printable("a\x1b[31mb\n") == "a?[31mb?");
    CHECK(printable("ƒé") == "ƒé");
    CHECK(printable("\xff\xc2") == "??");
}

TEST_CASE("text: a name cannot turn the direction of the words beside it") {
    for (const char* control : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"}) {
        CHECK(printable(std::string("a") + control + "b") == "a?b");
    }
    CHECK(printable("\u202f\u2010\u206a") == "\u202f\u2010\u206a");  // their neighbours
    CHECK(printable("עברית") == "עברית");
}

TEST_CASE("text: sentences keep their lines") {
    CHECK(printable_lines("one\n\ttwo\x1b[2J\u202e\r") == "one\n\ttwo?[2J??");
}

TEST_CASE("text: lists read as sentences") {
    CHECK(listed({}).empty());
    CHECK(listed({"a"}) == "a");
    CHECK(listed({"a", "b", "c"}) == "a, b and c");
}
