// SPDX-License-Identifier: LGPL-3.0-only
// Rules of partitions: which jobs they take, what is said of the others, and their order.
#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-route/admission.hpp"
#include "modules/job-route/rule_book.hpp"

using namespace weir;
using namespace weir::route;
using namespace std::chrono_literals;

namespace {

JobFacts a_job_of(Duration duration, std::int64_t cores = 1) {
    JobFacts job;
    job.queue = "batch";
    job.duration = duration;
    job.cores = cores;
    return job;
}

PartitionRules up_to(Duration most) {
    PartitionRules rules;
    rules.duration.most = most;
    return rules;
}

/// "at most 1h; it asks for 2h"; "" where the job is taken.
std::string told(const PartitionRules& rules, const JobFacts& job, std::uint32_t userid = 7) {
    const auto misfit = misfit_of(rules, job, userid);
    return misfit ? misfit->rule + "; " + misfit->job : "";
}

}  // namespace

TEST_CASE("partition rules: without any, each job is taken") {
    CHECK(rules_text({}).empty());
    CHECK(told({}, {}).empty());
    CHECK(told({}, a_job_of(5h, 100)).empty());
}

TEST_CASE("partition rules: a time limit lies in the range, both ends included; no limit is longer than all") {
    PartitionRules rules = up_to(1h);
    CHECK(rules_text(rules) == "at most 1h");
    CHECK(told(rules, a_job_of(1h)).empty());
    CHECK(told(rules, a_job_of(1h + 1s)) == "at most 1h; it asks for 3601s");
    CHECK(told(rules, a_job_of({})) == "at most 1h; it has no time limit");
    rules.duration = {30min, {}};
    CHECK(told(rules, a_job_of({})).empty());
    CHECK(told(rules, a_job_of(30min)).empty());
    CHECK(told(rules, a_job_of(29min)) == "at least 30m; it asks for 29m");
    rules.duration.most = 2h;
    CHECK(rules_text(rules) == "30m to 2h");
}

TEST_CASE("partition rules: cores and nodes") {
    PartitionRules rules;
    rules.cores = {2, 16};
    rules.nodes.most = 1;
    CHECK(rules_text(rules) == "2 to 16 cores, at most 1 node");
    CHECK(told(rules, a_job_of(1h, 2)).empty());
    CHECK(told(rules, a_job_of(1h, 1)) == "2 to 16 cores; it asks for 1 core");
    JobFacts wide = a_job_of(1h, 4);
    wide.nodes = 2;
    CHECK(told(rules, wide) == "at most 1 node; it asks for 2 nodes");
}

TEST_CASE("partition rules: an account is meant with all below it") {
    PartitionRules rules;
    rules.accounts = {"bio", "science/chem"};
    JobFacts job = a_job_of(1h);
    CHECK(told(rules, job) == "account bio or science/chem; it has no account");
    for (const char* account : {"bio", "bio/lab", "science/bio", "science/bio/lab", "science/chem"}) {
        job.account = account;
        CHECK(told(rules, job).empty());
    }
    for (const char* account : {"biology", "chem", "science", "x/science/physics"}) {
        job.account = account;
        CHECK(told(rules, job) == "account bio or science/chem; its account is " + job.account);
    }
}

TEST_CASE("partition rules: users, QoS and properties") {
    PartitionRules rules;
    rules.users = {"alice", "bob"};
    rules.userids = {7, 8};
    CHECK(told(rules, a_job_of(1h), 7).empty());
    CHECK(told(rules, a_job_of(1h), 9) == "user alice or bob; it is another user's");
    rules = {};
    rules.qos = {"high"};
    JobFacts job = a_job_of(1h);
    CHECK(told(rules, job) == "QoS high; it has no QoS");
    job.qos = "high";
    CHECK(told(rules, job).empty());
    rules = {};
    rules.properties = {"gpu", "fat", "^old"};
    CHECK(told(rules, job) == "property gpu or fat and not old; it requires no property");
    job.properties = {"fat"};
    CHECK(told(rules, job).empty());
    job.properties = {"fat", "old"};
    CHECK(told(rules, job) == "property gpu or fat and not old; it requires fat and old");
    rules.properties = {"^gpu"};
    CHECK(rules_text(rules) == "not property gpu");
    CHECK(told(rules, job).empty());
}

// Mutant: modules/job-route/partition_rules.cpp: memory.nodes * (memory.per_node_mib / job.memory_per_slot_mib) =>
// memory.nodes * memory.per_node_mib / job.memory_per_slot_mib
TEST_CASE("partition rules: a slot's memory is on one node, and a partition that has none takes no request for it") {
    const auto job_of = [](std::int64_t slots, std::uint32_t mib) {
        JobFacts job = a_job_of(1h);
        job.slots = slots;
        job.memory_per_slot_mib = mib;
        return job;
    };
    PartitionRules rules;
    CHECK(told(rules, job_of(1, 4096)).empty());  // a child that is no partition says itself what it has
    rules.memory = PartitionMemory{};
    CHECK(rules_text(rules).empty());
    CHECK(told(rules, job_of(9, 0)).empty());
    CHECK(told(rules, job_of(1, 1)) ==
          "jobs that request no memory, since it has no memory-per-node; it asks for 1MiB for its slot");
    rules.memory = PartitionMemory{8192, 1};
    CHECK(rules_text(rules) == "at most 8GiB of memory");
    CHECK(told(rules, job_of(2, 4096)).empty());
    CHECK(told(rules, job_of(1, 8193)) == "at most 8GiB of memory; it asks for 8193MiB for its slot");
    rules.memory = PartitionMemory{8192, 2};
    CHECK(told(rules, job_of(2, 6144)).empty());
    CHECK(told(rules, job_of(3, 5120)) ==
          "at most 8GiB of memory on each of 2 nodes; it asks for 5GiB for each of 3 slots");
}

// Mutant: modules/job-route/rule_book.cpp: one.memory.reset(); => // one.memory.reset();
TEST_CASE("rule book: memory makes partitions differ in what they take, not in which is preferred") {
    RuleBook book;
    PartitionRules small = up_to(1h), large = up_to(1h);
    small.memory = PartitionMemory{4096, 1};
    large.memory = PartitionMemory{8192, 1};
    CHECK(book.set({up_to(5h), small, large}));
    CHECK(book.rank_of(small) != book.rank_of(large));
    CHECK(book.preference_of(book.rank_of(small)) == book.preference_of(book.rank_of(large)));
    CHECK(book.preference_of(book.rank_of(up_to(5h))) < book.preference_of(book.rank_of(small)));
    JobFacts job = a_job_of(1h);
    job.memory_per_slot_mib = 8192;
    const int kind = book.kind_of(job, 7);
    CHECK_FALSE(book.takes(kind, book.rank_of(small)));
    CHECK(book.takes(kind, book.rank_of(large)));
}

TEST_CASE("rule book: the order of the configuration counts; equal rules are one, and none stands at its place") {
    RuleBook book;
    CHECK(book.rank_of({}) == 0);
    CHECK(book.takes(book.kind_of(a_job_of(9h), 7), 0));
    CHECK(book.set({up_to(1h), {}, up_to(5h), up_to(1h)}));
    CHECK_FALSE(book.set({up_to(1h), {}, up_to(5h)}));
    CHECK(book.rank_of(up_to(1h)) == 0);
    CHECK(book.rank_of({}) == 1);
    CHECK(book.rank_of(up_to(5h)) == 2);
    CHECK(book.rank_of(up_to(3h)) == 1);
    const int kind = book.kind_of(a_job_of(2h), 7);
    CHECK_FALSE(book.takes(kind, 0));
    CHECK(book.takes(kind, 1));
    CHECK(book.takes(kind, 2));
    CHECK(book.kind_of(a_job_of(4h), 7) == kind);
    CHECK(book.kind_of(a_job_of(6h), 7) != kind);
    CHECK(book.set({}));
}

TEST_CASE("admission: a job that no partition of its queue takes is refused, and the sentence names the rules") {
    Admission admission;
    const auto array =
        Json::parse(R"([{"name": "short", "queues": ["batch"], "cores": 2, "takes": {"duration-max": "1h"}},
        {"name": "bio", "queues": ["debug"], "overflow": ["batch"], "cores": 2, "takes": {"accounts": ["bio"]}}])");
    admission.set_partitions(array->get(), nullptr);
    admission.set_runs_as_owner(true);
    JobFacts job = a_job_of(2h);
    CHECK(admission.refusal(job, 7, true) ==
          "no partition of the queue batch takes this job: short takes at most 1h (it asks for 2h); bio takes account "
          "bio (it has no account)");
    CHECK_FALSE(admission.refusal(job, 7, false));  // it may get one
    CHECK_FALSE(admission.refusal(a_job_of(1h), 7, true));
    job.account = "bio";
    CHECK_FALSE(admission.refusal(job, 7, true));
    job = a_job_of(2h);
    job.queue = "other";
    CHECK_FALSE(admission.refusal(job, 7, true));
    job = a_job_of(1h, 3);
    CHECK(
        admission.refusal(job, 7, true) ==
        "no partition of the queue batch takes this job: short takes at most 2 cores (it asks for 3 cores); bio takes "
        "account bio (it has no account)");
    admission.set_shared({"batch"});
    CHECK_FALSE(admission.refusal(a_job_of(2h), 7, true));
}

TEST_CASE("admission: partitions that run jobs as the owner of a stock Flux take his jobs alone") {
    Admission admission;
    const auto array = Json::parse(R"([{"name": "bio", "queues": ["batch"], "cores": 2}])");
    admission.set_partitions(array->get(), nullptr);
    CHECK(admission.refusal(a_job_of(1h), 7, false) ==
          "the partitions of the queue batch run jobs as the owner of this instance, so they take no other user's job");
    CHECK_FALSE(admission.refusal(a_job_of(1h), 7, true));
    admission.set_shared({"batch"});  // a child of his own may serve it
    CHECK_FALSE(admission.refusal(a_job_of(1h), 7, false));
}

TEST_CASE("admission: no user's job takes the cores of partitions: by their queue, or as one that serves queues") {
    Admission admission;
    admission.set_runs_as_owner(true);
    CHECK_FALSE(admission.refusal_here("instances", false));  // there are no partitions
    const auto array = Json::parse(R"([{"name": "one", "queues": ["batch", "debug"], "cores": 2},
        {"name": "two", "queues": ["batch"], "cores": 2}])");
    admission.set_partitions(array->get(), nullptr);
    CHECK(admission.refusal_here("instances", false) ==
          "the queue instances is for the partitions themselves: submit to batch, debug");
    CHECK_FALSE(admission.refusal_here("instances", true));
    CHECK_FALSE(admission.refusal_here("own", false));
    JobFacts job = a_job_of(1h);
    job.serves = {"batch"};
    CHECK(admission.refusal(job, 7, false) ==
          "partitions serve the queue batch: a job that serves queues itself needs another one");
}
