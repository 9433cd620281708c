// SPDX-License-Identifier: LGPL-3.0-only
// Wall and monotonic times are given: no clock is read.
#include "broker/core/instance_clock.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "broker/core/clock_file.hpp"

using namespace weir::broker;

namespace {

constexpr double day = 86400;
constexpr double wall = 1.7e9;
constexpr double up = 5000;  // monotonic

double now_of(const ClockStart& start, double monotonic) {
    return start.zero + start.scale * monotonic;
}

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "weir-clock-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string name() const { return path_; }

  private:
    std::string path_;
};

}  // namespace

TEST_CASE("instance clock: it begins at the wall clock and then follows the monotonic one") {
    const ClockStart start = begin_clock({}, {}, wall, up);
    CHECK(start.raised == 0);
    CHECK(now_of(start, up) == Approx(wall).margin(1e-6));
    CHECK(now_of(start, up + 100) == Approx(wall + 100).margin(1e-6));
}

// Kills: the statedir's origin not taken; taken at another scale; downtime not counted at the scale.
TEST_CASE("instance clock: at a scale the origin is the statedir's, so that the clock goes on over restarts") {
    const ClockStart first = begin_clock({60., {}, {}}, {}, wall, up);
    CHECK(now_of(first, up) == Approx(wall).margin(1e-6));
    const ClockPast past{60, first.origin, now_of(first, up + 100)};
    const ClockStart second = begin_clock({60., {}, {}}, past, wall + 150, up + 150);
    CHECK(second.raised == 0);
    CHECK(now_of(second, up + 150) == Approx(wall + 150 * 60).margin(1e-4));
    const ClockStart other = begin_clock({30., {}, {}}, past, wall + 150, up + 150);
    CHECK(now_of(other, up + 150) == Approx(past.seen).margin(1e-4));
}

TEST_CASE("instance clock: it never goes back behind what the statedir has seen, whatever is asked for") {
    const ClockPast past{1, wall, wall + 1000};
    const ClockStart set_back = begin_clock({}, past, wall + 1010 - 3600, up);
    CHECK(set_back.raised == Approx(3590).margin(1e-5));
    CHECK(now_of(set_back, up) == Approx(past.seen).margin(1e-6));
    const ClockStart forward = begin_clock({}, past, wall + day, up);
    CHECK(forward.raised == 0);
    CHECK(now_of(forward, up) == Approx(wall + day).margin(1e-6));
    const ClockStart asked = begin_clock({1000., 1e6, {}}, past, 1e6 + 1, up);
    CHECK(now_of(asked, up) == Approx(past.seen).margin(1e-6));
}

TEST_CASE("instance clock: a child's is its parent's, unless it asks for another scale or origin") {
    const ClockWish::Mapping parents{60, wall - 60 * up + 777};
    CHECK(now_of(begin_clock({{}, {}, parents}, {}, wall, up), up + 1) == Approx(wall + 777 + 60).margin(1e-4));
    CHECK(now_of(begin_clock({60., {}, parents}, {}, wall, up), up + 1) == Approx(wall + 777 + 60).margin(1e-4));
    CHECK(now_of(begin_clock({1., {}, parents}, {}, wall, up), up + 1) == Approx(wall + 1).margin(1e-4));
    CHECK(now_of(begin_clock({60., wall - 1, parents}, {}, wall, up), up) == Approx(wall - 1 + 60).margin(1e-4));
    const ClockPast ahead{60, wall, wall + 7 * day};
    CHECK(now_of(begin_clock({60., {}, parents}, ahead, wall, up), up) == Approx(ahead.seen).margin(1e-4));
}

// Kills: the child's clock raised, so that the two of them disagree for as long as it lives.
TEST_CASE("instance clock: a child that has seen a little more than its parent's new clock says waits for that") {
    const ClockWish::Mapping parents{2, wall - 2 * up};
    const ClockPast past{2, wall, wall + 3};
    const ClockStart start = begin_clock({{}, {}, parents}, past, wall, up);
    CHECK(start.wait == Approx(1.5).margin(1e-6));
    CHECK(start.raised == 0);
    CHECK(start.zero == Approx(parents.zero).margin(1e-6));
    CHECK(now_of(start, up + start.wait) >= past.seen - 1e-6);
    CHECK(begin_clock({{}, {}, parents}, past, wall, up + 2).wait == 0);
    const ClockStart without_parent = begin_clock({2., wall, {}}, past, wall, up);
    CHECK(without_parent.wait == 0);
    CHECK(without_parent.raised > 0);
}

TEST_CASE("instance clock: the line is of one length and read back to the last bit; no other line is read") {
    const ClockPast past{3600.5, 1.7e9 + 0.123456789, 1.8e9 + 1. / 3};
    const std::string line = encode(past);
    const auto read = decode_clock(line);
    REQUIRE(read);
    CHECK(read->scale == past.scale);
    CHECK(read->origin == past.origin);
    CHECK(read->seen == past.seen);
    CHECK(line.size() == encode({1, 2, 3}).size());
    CHECK(line.back() == '\n');
    for (const std::string& bad :
         {std::string(), line.substr(1), line.substr(0, 100), std::string(line.size(), '\0'), encode({0, 1, 1}),
          encode({1, 1, -1e300}), encode({1, HUGE_VAL, 1}), "weir-clock 2" + line.substr(12)}) {
        INFO(bad);
        CHECK_FALSE(decode_clock(bad));
    }
}

TEST_CASE("clock file: what was marked is there in the next life, and a second broker is refused") {
    const Folder folder;
    {
        auto file = ClockFile::open(folder.name());
        REQUIRE(file);
        CHECK_FALSE(file->past());
        CHECK_FALSE(file->is_damaged());
        REQUIRE(file->mark({1, 2, 3}));
        REQUIRE(file->mark({1, 2, 4.5}));
        const auto second = ClockFile::open(folder.name());
        REQUIRE_FALSE(second);
        CHECK(second.error().message.find("in use by another instance") != std::string::npos);
    }
    {
        const auto file = ClockFile::open(folder.name());
        REQUIRE(file);
        REQUIRE(file->past());
        CHECK(file->past()->seen == 4.5);
    }
    std::ofstream(folder.name() + "/clock") << "rubbish\n";
    const auto damaged = ClockFile::open(folder.name());
    REQUIRE(damaged);
    CHECK(damaged->is_damaged());
    CHECK_FALSE(ClockFile::open("/nonexistent"));
}
