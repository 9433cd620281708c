// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/report_span.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace weir::cmd;

namespace {

/// The time zone of this process while it lives.
class Zone {
  public:
    explicit Zone(const char* name) {
        const char* before = std::getenv("TZ");
        had_ = before != nullptr;
        before_ = had_ ? before : "";
        setenv("TZ", name, 1);
        tzset();
    }
    ~Zone() {
        if (had_) {
            setenv("TZ", before_.c_str(), 1);
        } else {
            unsetenv("TZ");
        }
        tzset();
    }

  private:
    bool had_ = false;
    std::string before_;
};

// The rules are spelt out: no zone files are needed.
constexpr const char* berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
constexpr double october_25 = 1792879200;  // 2026-10-25 00:00 in Berlin, the day on which summer time ends

}  // namespace

TEST_CASE("report span: a time is a date, a month, an hour of a date, or a time ago, in this time zone") {
    const Zone zone(berlin);
    CHECK(*report_time("2026-10-25", 0) == october_25);
    CHECK(*report_time("2026-10-25T10:30", 0) == october_25 + 11.5 * 3600);
    CHECK(*report_time("2026-10-25 01:00:05", 0) == october_25 + 3605);
    CHECK(*report_time("2026-10", 0) == october_25 - 24 * 86400);
    CHECK(*report_time("today", october_25 + 5) == october_25);
    CHECK(*report_time("7d", october_25) == october_25 - 7 * 86400);
    CHECK(*report_time("-12h", october_25) == october_25 - 12 * 3600);
    for (const char* bad : {"", "soon", "2026-13", "2026-02-30", "2026-10-25x10:00", "2026-10-25T25:00", "2026-10-25 ",
                            "1969-01-01", "7"}) {
        INFO(bad);
        CHECK_FALSE(report_time(bad, 0));
    }
}

TEST_CASE("report span: a day on which the clock changes has 25 hours, and is one day") {
    const Zone zone(berlin);
    CHECK(report_edges(october_25 - 3600, october_25 + 30 * 3600, Period::day) ==
          std::vector<double>{october_25 - 3600, october_25, october_25 + 25 * 3600, october_25 + 30 * 3600});
    CHECK(period_name(october_25, Period::day) == "2026-10-25");
    CHECK(period_name(october_25 + 25 * 3600, Period::day) == "2026-10-26");
}

// Mutant: cmd/common/report_span.cpp: std::ceil(*at / 3600) => std::floor(*at / 3600)
TEST_CASE("report span: where the zone is off by half an hour, a day begins late, and days share no hour") {
    const Zone zone("IST-5:30");
    const double november_28 = *report_time("2026-11-28", 0);
    CHECK(*report_begin("2026-11-28", 0) == november_28 + 1800);
    CHECK(*report_begin("today", november_28 + 7200) == november_28 + 1800);
    CHECK(*report_begin("2026-11-28T10:00", 0) == november_28 + 10.5 * 3600);
    CHECK(*report_begin("2026-11-28T10:30", 0) == november_28 + 10.5 * 3600);
    CHECK(*report_begin("2026-11-28T10:45", 0) == november_28 + 10.75 * 3600);
    CHECK(*report_begin("1d", november_28) == november_28 - 86400);
    CHECK_FALSE(report_begin("soon", 0));
    const auto days = report_edges(*report_begin("2026-11-28", 0), *report_time("2026-11-30", 0), Period::day);
    REQUIRE(days.size() == 3);
    CHECK(period_name(days[0], Period::day) == "2026-11-28");
    CHECK(std::ceil(days[1] / 3600) * 3600 == *report_begin("2026-11-29", 0));  // the other edges are rounded up
    CHECK(period_name(*report_begin("2026-11", 0), Period::month) == "2026-11");
}

TEST_CASE("report span: months begin on their first days, hours at the hour, and the whole has one part") {
    const Zone zone("UTC0");
    const double since = *report_time("2026-11-20", 0);
    const double until = *report_time("2027-01-02", 0);
    CHECK(report_edges(since, until, Period::month) ==
          std::vector<double>{since, *report_time("2026-12", 0), *report_time("2027-01", 0), until});
    CHECK(period_name(since, Period::month) == "2026-11");
    CHECK(report_edges(since + 1800, since + 7200, Period::hour) ==
          std::vector<double>{since + 1800, since + 3600, since + 7200});
    CHECK(report_edges(since, until, Period::whole) == std::vector<double>{since, until});
    CHECK(report_edges(until, since, Period::day).empty());
}
