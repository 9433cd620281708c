// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/demo/report.hpp"

#include <catch2/catch.hpp>

#include "cmd/demo/report_text.hpp"

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

namespace {

Instant at(Duration d) {
    return Instant{1'000'000s} + d;
}
JobRecord reported_job(const char* user, const char* account, std::int64_t cores, Duration submit, Duration alloc,
                       Duration free) {
    JobRecord record;
    record.user = user;
    record.account = account;
    record.cores = cores;
    record.submit = at(submit);
    record.alloc = at(alloc);
    record.free = at(free);
    return record;
}
const std::vector<Entitlement> report_tree{{"physics", 0.75},
                                           {"physics/lattice", 0.75},
                                           {"physics/lattice/@alice", 0.75},
                                           {"chem", 0.25},
                                           {"chem/@carol", 0.25}};

}  // namespace

TEST_CASE("report: charges go from alloc to free and add up along the path") {
    const auto sums = core_us_by_path({reported_job("alice", "physics/lattice", 4, 0s, 10s, 20s + 1us),
                                       reported_job("carol", "chem", 1, 0s, 0s, 5s)});
    CHECK(sums.at("") == 45'000'004);
    CHECK(sums.at("physics") == 40'000'004);
    CHECK(sums.at("physics/lattice") == 40'000'004);
    CHECK(sums.at("physics/lattice/@alice") == 40'000'004);
    CHECK(sums.at("chem/@carol") == 5'000'000);
}

TEST_CASE("report: a job that never ran costs nothing and has no wait") {
    JobRecord never = reported_job("carol", "chem", 8, 0s, 0s, 0s);
    CHECK(core_us(never) == 0);
    const auto rows =
        account_rows({never, reported_job("carol", "chem", 1, 0s, 30s, 40s)}, report_tree, {at(0s), at(100s)});
    CHECK(rows[4].jobs == 2);
    CHECK(rows[4].wait_median == 30s);
}

TEST_CASE("report: delivered counts the window only, asked the whole") {
    const auto rows = account_rows(
        {reported_job("alice", "physics/lattice", 1, 0s, 0s, 300s), reported_job("carol", "chem", 1, 0s, 0s, 100s)},
        report_tree, {at(0s), at(100s)});
    CHECK(rows[0].delivered == Approx(0.5));
    CHECK(rows[0].asked == Approx(0.75));
    CHECK(rows[0].ratio == Approx(0.5 / 0.75));
    CHECK(rows[3].ratio == Approx(2.0));
}

TEST_CASE("report: the slowdown is the bounded one, of the wait for an allocation and the time that it was held") {
    const auto row = account_rows({reported_job("a", "b", 1, 0s, 0s, 1s), reported_job("a", "b", 1, 0s, 19s, 20s),
                                   reported_job("a", "b", 1, 0s, 200s, 300s)},
                                  {{"b", 1}}, {at(0s), at(300s)})
                         .front();
    CHECK(row.slowdown_median == Approx(2));
    CHECK(row.slowdown_mean == Approx(2));
}

TEST_CASE("report: an account's name that begins another's is not its parent") {
    const auto rows = account_rows({reported_job("x", "chemistry", 1, 0s, 0s, 10s)},
                                   {{"chem", 0.5}, {"chemistry", 0.5}}, {at(0s), at(9s)});
    CHECK(rows[0].jobs == 0);
    CHECK(rows[1].jobs == 1);
}

TEST_CASE("report: text and JSON carry the same figures") {
    Report report;
    report.facts = {"Lublin-Feitelson, seed 1", 600, 160, 5040, 80h, 60h, 0.93, 62s};
    report.rows = {{"physics", 0.5, 0.4, 0.45, 0.9, 300, 2h + 5min, 3.25, 8.0}};
    report.checks = {{"entitlements sum to 100 %", true, "100.000000 % over 14 nodes"}, {"b", false, "no"}};
    Screen screen;
    screen.glyphs.unicode = false;
    CHECK(report_text(report, screen) ==
          "Lublin-Feitelson, seed 1: 600 jobs on 160 cores, 3d 8h in 1m 2s (5040 times as fast)\n"
          "delivered: while jobs were submitted, the first 2d 12h; the partitions' cores were 93.0 % busy then\n"
          "waits and slowdowns include the instances' own work: a real millisecond of it counts as 5s\n\n"
          "account  entitled   asked  delivered  ratio  jobs  wait, median  slowdown, median  mean\n"
          "physics    50.0 %  40.0 %     45.0 %  0.90x   300         2h 5m               3.3   8.0\n\n"
          "ok  entitlements sum to 100 %: 100.000000 % over 14 nodes\nNOT b: no\n");
    CHECK_FALSE(report.holds());
    const std::string json = report_json(report).dump();
    CHECK(json.find("\"schema\":\"weir.demo/1\",\"holds\":false") != std::string::npos);
    CHECK(json.find("\"wait_median_s\":7500.0") != std::string::npos);
}

TEST_CASE("report: of a large tree people see the accounts that asked for most") {
    Report report;
    for (int i = 0; i < 60; ++i) {
        report.rows.push_back({"g" + std::to_string(i), 1.0 / 60, i / 1000.0, 0, 0, 1, Duration(0), 1, 1});
        report.rows.push_back({"g" + std::to_string(i) + "/@u", 1.0 / 60, i / 1000.0, 0, 0, 1, Duration(0), 1, 1});
    }
    const std::string text = report_text(report, Screen{});
    CHECK(text.find("\ng59 ") < text.find("\ng58 "));
    CHECK(text.find("\ng48 ") != std::string::npos);
    CHECK(text.find("\ng47 ") == std::string::npos);
    CHECK(text.find("108 more nodes are in report.json") != std::string::npos);
}

TEST_CASE("report: a report without checks does not hold") {
    CHECK_FALSE(Report{}.holds());
}

TEST_CASE("report: CSV keeps microseconds and quotes what needs it") {
    JobRecord record = reported_job("a,b", "chem", 2, 0s, 1s + 5us, 3s);
    record.id = 7;
    record.result = "completed";
    record.recalled_core_us = 250000;
    CHECK(jobs_csv({record}, at(0s)) ==
          "id,child_id,user,account,queue,partition,cores,submit_s,alloc_s,free_s,requested_s,wait_s,result,recalled_"
          "core_s\n"
          "7,0,\"a,b\",chem,,,2,0.000000,1.000005,3.000000,0.000000,1.000005,completed,0.250000\n");
}
