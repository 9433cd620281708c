// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/demo/checks.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

namespace {

JobRecord job(const char* user, const char* account, std::int64_t cores, Duration run) {
    JobRecord record;
    record.user = user;
    record.account = account;
    record.cores = cores;
    record.alloc = Instant{1000s};
    record.free = Instant{1000s} + run;
    return record;
}
const std::vector<JobRecord> jobs{job("alice", "physics/lattice", 2, 10s), job("carol", "chem", 1, 3s + 1us)};
const Charges ledger{{"", 23'000'001},
                     {"physics", 20'000'000},
                     {"physics/lattice", 20'000'000},
                     {"physics/lattice/@alice", 20'000'000},
                     {"chem", 3'000'001},
                     {"chem/@carol", 3'000'001}};

}  // namespace

TEST_CASE("checks: entitlements") {
    CHECK(check_entitlements({{"a", 0.6}, {"a/@x", 0.6}, {"b", 0.4}}).holds);
    CHECK_FALSE(check_entitlements({{"a", 0.6}, {"b", 0.3}}).holds);
    const Check inner = check_entitlements({{"a", 0.6}, {"a/@x", 0.5}, {"b", 0.5}});
    CHECK_FALSE(inner.holds);
    CHECK(inner.detail == "a has 60.0 %, its members together 50.0 %");
    CHECK_FALSE(check_entitlements({}).holds);
}

TEST_CASE("checks: one microsecond too many is found and named") {
    CHECK(check_charges(ledger, jobs).holds);
    CHECK(check_charges(ledger, jobs).detail == "23.000001 core-seconds, 2 jobs, 5 nodes, difference 0");
    Charges wrong = ledger;
    wrong["chem/@carol"] += 1;
    const Check check = check_charges(wrong, jobs);
    CHECK_FALSE(check.holds);
    CHECK(check.detail == "chem/@carol: charged 3.000002, jobs used 3.000001 core-seconds");
}

TEST_CASE("checks: a charge that no job explains, and a job that nobody charged") {
    Charges extra = ledger;
    extra["chem/@dave"] = 5;
    CHECK_FALSE(check_charges(extra, jobs).holds);
    Charges missing = ledger;
    missing.erase("chem/@carol");
    CHECK_FALSE(check_charges(missing, jobs).holds);
}

TEST_CASE("checks: the children's ledgers add up to the parent's") {
    const ChildView batch{"batch", {{"physics/lattice/@alice", 20'000'000}, {"physics", 20'000'000}}, 0};
    ChildView debug{"debug", {{"chem/@carol", 3'000'001}}, 0};
    CHECK(check_children(ledger, {batch, debug}).holds);
    CHECK(check_children(ledger, {batch, debug}).detail ==
          "batch 20.000000 and debug 3.000001 core-seconds, difference 0");
    CHECK_FALSE(check_children(ledger, {batch}).holds);
    debug.unassociated = 1;
    CHECK_FALSE(check_children(ledger, {batch, debug}).holds);
}

TEST_CASE("checks: every job ran once") {
    CHECK(check_complete(2, 2, jobs).holds);
    CHECK_FALSE(check_complete(3, 3, jobs).holds);
    CHECK_FALSE(check_complete(2, 1, jobs).holds);
}
