// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/sim/without_jobs.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::cmd;

namespace {

WithoutJobsCheck looked_at(const LogNames& names, const std::vector<std::pair<std::uint16_t, std::uint32_t>>& jobs) {
    WithoutJobsCheck check(names);
    for (const auto& [queue, group] : jobs) {
        SimJob job;
        job.queue = queue;
        job.group = group;
        check.add(job);
    }
    return check;
}

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("names without jobs: queues by number or name; only the tables that the policy heeds") {
    PolicySettings settings;
    settings.queues = {{"1", 10}, {"3", 5}};
    settings.billing.factors.queue = {{"batch", 2}};
    CHECK(looked_at({}, {{1, 1}, {3, 1}, {0, 1}}).warnings(settings) ==
          Sentences{"[weir.queues.batch] has no effect: no job of the log is of this queue; its queues are 1 and 3; "
                    "[sim.queues] gives them names"});
    LogNames names;
    names.queues.named = {{1, "batch"}};
    CHECK(looked_at(names, {{1, 1}, {0, 1}}).warnings(settings) ==
          Sentences{"[weir.queues.1] and [weir.queues.3] have no effect: no job of the log is of these queues; its "
                    "queue is batch"});
    names.queues.otherwise = "3";
    CHECK(looked_at(names, {{7, 1}}).warnings(settings).size() == 1);
    settings.policy = PolicyKind::fcfs;
    CHECK(looked_at({}, {{5, 1}}).warnings(settings).empty());
    settings.policy = PolicyKind::lsf;
    settings.queues.clear();
    settings.billing.factors.queue.clear();
    settings.lsf.queue_factors["night"];
    CHECK(looked_at({}, {{0, 1}}).warnings(settings) ==
          Sentences{"[weir.lsf.queues.night] has no effect: no job of the log is of this queue; its jobs name none"});
}

TEST_CASE("names without jobs: Moab's accounts by number, name or the last part of it, its classes; \"*\" is no name") {
    PolicySettings settings;
    settings.policy = PolicyKind::moab;
    for (const char* account : {"*", "g1", "2", "chem", "a", "b", "c", "d", "e", "f"}) {
        settings.moab.credentials[2][account];
    }
    settings.moab.credentials[4]["1"];
    LogNames names;
    names.accounts = {"", "", "science/chem"};
    CHECK(
        looked_at({}, {{1, 1}, {1, 2}, {1, 0}}).warnings(settings).front() ==
        "[weir.moab.accounts.a], [weir.moab.accounts.b], [weir.moab.accounts.c], [weir.moab.accounts.chem], "
        "[weir.moab.accounts.d] and 2 more have no effect: no job of the log is of these accounts; its accounts are 1 "
        "and 2");
    settings.moab.credentials[2] = {{"chem", {}}, {"science/chem", {}}, {"bio", {}}};
    CHECK(looked_at(names, {{2, 3}}).warnings(settings) ==
          Sentences{"[weir.moab.classes.1] has no effect: no job of the log is of this queue; its queue is 2; "
                    "[sim.queues] gives them names",
                    "[weir.moab.accounts.bio] has no effect: no job of the log is of this account; its account is "
                    "science/chem"});
}
