// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/module/guest_reports.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace weir::priority;

namespace {

using Reports = GuestReports<std::string>;

std::string served(Reports& reports) {
    std::string all;
    for (const Reports::Waiting& report : reports.turn()) {
        all += report.request;
    }
    return all;
}

}  // namespace

// Mutant: modules/job-priority/module/guest_reports.hpp: users.insert(report->userid).second => true
TEST_CASE("guest reports: each user has one report a turn, in order of arrival, however many children he has") {
    Reports reports;
    for (const char* name : {"a", "b", "c"}) {
        REQUIRE_FALSE(reports.add({1, static_cast<FluxJobId>(*name), 10, name}));
    }
    REQUIRE_FALSE(reports.add({2, 7, 10, "X"}));
    CHECK(served(reports) == "aX");
    CHECK(served(reports) == "b");
    CHECK(served(reports) == "c");
    CHECK(served(reports).empty());
}

TEST_CASE("guest reports: a child has one report that waits; the next takes its place, and not a better one") {
    Reports reports;
    (void)reports.add({1, 5, 10, "a"});
    (void)reports.add({1, 6, 10, "b"});
    CHECK(reports.add({1, 6, 20, "c"}) == "b");
    CHECK(reports.size() == 2);
    CHECK(served(reports) == "a");
    CHECK(served(reports) == "c");
}

// Mutant: modules/job-priority/module/guest_reports.hpp: && records < records_per_turn =>
TEST_CASE("guest reports: a turn has a bounded number of records, and no report waits for ever") {
    Reports reports;
    for (std::uint32_t user = 0; user < 10; ++user) {
        (void)reports.add({user, user + 1, 500, std::to_string(user)});
    }
    CHECK(served(reports) == "0123");
    (void)reports.add({0, 1, 500, "again"});
    CHECK(served(reports) == "4567");
    CHECK(served(reports) == "89again");
}
