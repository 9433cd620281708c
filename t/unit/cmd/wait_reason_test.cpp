// SPDX-License-Identifier: LGPL-3.0-only
// Which of several reasons is said.
#include "cmd/common/wait_reason.hpp"

#include <catch2/catch.hpp>

#include "cmd/common/reader.hpp"

using namespace weir;
using namespace weir::cmd;

namespace {

Job job_in(int state) {
    Job job;
    job.id = 1;
    job.state = state;
    job.priority = 7;
    return job;
}

std::string why(const Job& job, const WaitFacts& facts = {}) {
    return text_at(wait_reason(job, facts).get(), "reason");
}

Json object(const char* key, Json value) {
    Json out = Json::object();
    out.set(key, std::move(value));
    return out;
}

}  // namespace

TEST_CASE("wait reason: every state has one") {
    CHECK(why(job_in(FLUX_JOB_STATE_NEW)) == "arriving");
    CHECK(why(job_in(FLUX_JOB_STATE_DEPEND)) == "arriving");
    CHECK(why(job_in(FLUX_JOB_STATE_PRIORITY)) == "priority");
    CHECK(why(job_in(FLUX_JOB_STATE_SCHED)) == "arriving");
    CHECK(why(job_in(FLUX_JOB_STATE_RUN)) == "not-waiting");
    CHECK(why(job_in(FLUX_JOB_STATE_CLEANUP)) == "not-waiting");
    CHECK(why(job_in(FLUX_JOB_STATE_INACTIVE)) == "not-waiting");
}

TEST_CASE("wait reason: of an ended job its exit code, its signal, or the note of its exception") {
    Job job = job_in(FLUX_JOB_STATE_INACTIVE);
    job.result = FLUX_JOB_RESULT_FAILED;
    const auto text = [&job] { return text_at(wait_reason(job, {}).get(), "text"); };
    CHECK(text() == "does not wait: it failed");
    job.waitstatus = 3 << 8;
    CHECK(text() == "does not wait: it failed: exit code 3");
    CHECK(exit_code_of(job) == 3);
    CHECK_FALSE(signal_of(job));
    job.waitstatus = 9;
    CHECK(text() == "does not wait: it failed: signal 9");
    CHECK(signal_of(job) == 9);
    CHECK_FALSE(exit_code_of(job));
    job.waitstatus = 137 << 8;  // as a job shell tells it
    CHECK(text() == "does not wait: it failed: signal 9");
    CHECK(signal_of(job) == 9);
    CHECK_FALSE(exit_code_of(job));
    job.note = "node failed";
    CHECK(text() == "does not wait: it failed: node failed");
    job = job_in(FLUX_JOB_STATE_INACTIVE);
    job.result = FLUX_JOB_RESULT_COMPLETED;
    job.waitstatus = 0;
    CHECK(text() == "does not wait: it completed");
    CHECK(exit_code_of(job) == 0);
}

TEST_CASE("wait reason: what holds it before the scheduler is asked comes first") {
    Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.scheduler = object("reason", Json::string("resources"));
    CHECK(why(job, facts) == "resources");
    facts.queue = object("start", Json::own(json_true()));
    CHECK(why(job, facts) == "resources");
    facts.queue = object("start", Json::own(json_false()));
    CHECK(why(job, facts) == "queue-stopped");
    facts.queue.set("stop_reason", "Scheduler is offline");
    CHECK(why(job, facts) == "no-scheduler");
    facts.priority = object("limit", Json::string("bio runs at most 1 job; 1 runs"));
    CHECK(why(job, facts) == "limit");
    job.urgency = 0;
    CHECK(why(job, facts) == "held");
}

// Mutant: cmd/common/wait_reason.cpp: json_is_integer(pushed.get()) && json_integer_value(pushed.get()) == 0 => false
TEST_CASE("wait reason: where no scheduler of ours knows the job") {
    Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.is_foreign_scheduler = true;
    CHECK(why(job, facts) == "foreign-scheduler");
    job.priority = 0;
    CHECK(why(job, facts) == "held");
    facts.priority = object("pushed", Json::integer(0));  // job-priority has released it, and its number is on its way
    CHECK(why(job, facts) == "arriving");
    facts.priority = object("pushed", Json::integer(5));
    CHECK(why(job, facts) == "held");
    facts.priority = object("pushed", Json::own(json_null()));
    CHECK(why(job, facts) == "held");
    facts.is_kept_for_route = true;
    CHECK(why(job, facts) == "no-job-route");
}

TEST_CASE("wait reason: a routed job that no partition has") {
    Job job = job_in(FLUX_JOB_STATE_SCHED);
    job.queue = "batch";
    WaitFacts facts;
    facts.route = object("child", Json::integer(0));
    CHECK(why(job, facts) == "no-partition");
    CHECK(text_at(wait_reason(job, facts).get(), "text").find("no partition serves the queue \"batch\"") !=
          std::string::npos);
    facts.route.set("served", Json::boolean(true));
    CHECK(why(job, facts) == "partition-room");
    facts.route.set("lost", Json::parse(R"({"child":5,"since":90000.5})").value());
    CHECK(why(job, facts) == "partition-room");
}

TEST_CASE("wait reason: a routed job that no partition of its queue can run, however few others wait") {
    const Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    const auto with = [&facts](const char* partitions) {
        facts.route = Json::object();
        facts.route.set("child", 0).set("partitions", Json::parse(partitions).value());
    };
    with(R"([{"name":"a","takes":true,"away":"is drained"},{"name":"b","takes":true,"away":"has 2 cores"},)"
         R"({"name":"c","takes":false,"rules":"at most 1h"}])");
    CHECK(why(job, facts) == "partition-away");
    CHECK(text_at(wait_reason(job, facts).get(), "text").find("a is drained, b has 2 cores") != std::string::npos);
    with(R"([{"name":"a","takes":true,"away":"is drained"},{"name":"b","takes":true}])");
    CHECK(why(job, facts) == "partition-room");
}

TEST_CASE("wait reason: a lost child is told, with the time") {
    const Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.route = Json::object();
    facts.route.set("child", 5).set("lost_since", 90000.5).set("served", Json::boolean(true));
    CHECK(why(job, facts) == "child-lost");
    CHECK(text_at(wait_reason(job, facts).get(), "text").find("lost since 1970-01-0") != std::string::npos);
    facts.route.set("lost_since", 0.).set("served", Json::boolean(false));
    facts.route.set("lost", Json::parse(R"({"child":5,"since":90000.5})").value());
    CHECK(why(job, facts) == "child-lost");
}

TEST_CASE("wait reason: the partition that has the job says why it waits") {
    const Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.route = object("child", Json::integer(5));
    facts.hops = {{5, 9, "batch"}};
    facts.unanswered = Error{std::errc::timed_out, "it sleeps"};
    CHECK(why(job, facts) == "routed");
    CHECK(text_at(wait_reason(job, facts).get(), "text") == "waits in a partition that gave no answer: it sleeps");
    facts.unanswered = Error{std::errc::no_such_file_or_directory, "this partition does not know the job"};
    CHECK(text_at(wait_reason(job, facts).get(), "text") == "is on its way to its partition");
    WaitBelow below{job, {}};
    below.facts.scheduler = object("reason", Json::string("resources"));
    below.facts.scheduler.set("text", "needs 2 cores");
    facts.below = std::make_shared<const WaitBelow>(std::move(below));
    CHECK(why(job, facts) == "resources");
    CHECK(wait_text("It", wait_reason(job, facts).get(), false) ==
          "It needs 2 cores.\nIt is in a partition that serves batch (f6) as fA.\n");
    facts.hops.back().partition = "large";
    CHECK(wait_text("It", wait_reason(job, facts).get(), false) ==
          "It needs 2 cores.\nIt is in the partition large (f6) as fA.\n");
}

TEST_CASE("wait reason: an estimate of one partition names the others that may start the job earlier") {
    const Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.hops = {{5, 9, "batch", "large"}};
    WaitBelow below{job, {}};
    below.facts.scheduler = Json::parse(R"({"reason":"resources","text":"needs 2 cores","t_estimate":1e9})").value();
    facts.below = std::make_shared<const WaitBelow>(std::move(below));
    const auto with = [&](std::vector<std::string> others) {
        facts.hops.front().may_start_in = std::move(others);
        facts.route = object("child", Json::integer(5));
        return wait_reason(job, facts);
    };
    const auto says = [](const Json& reason, const char* words) {
        return wait_text("It", reason.get(), false).find(words) != std::string::npos;
    };
    const Json alone = with({});
    CHECK(says(alone, "; estimated start: 2001-09-0"));
    CHECK_FALSE(says(alone, "earlier"));
    CHECK_FALSE(alone.at("may_start_in"));
    const Json one = with({"chemp"});
    CHECK(says(one, "; estimated start in large: 2001-09-0"));
    CHECK(says(one, "; it may start earlier in chemp.\n"));
    CHECK(one.at("may_start_in").dump() == R"(["chemp"])");
    CHECK(says(with({"a", "b", "c"}), "; it may start earlier in a, b or c.\n"));
    // Mutant: only the partitions beside the first instance on the way are named.
    facts.hops = {{5, 8, "batch", "batch", {"other"}}, {6, 9, "batch", "left", {"right"}}};
    const Json deep = wait_reason(job, facts);
    CHECK(says(deep, "; estimated start in left: 2001-09-0"));
    CHECK(says(deep, "; it may start earlier in other or right.\n"));
}

TEST_CASE("wait reason: a job that waits in an instance on the way has the reason of that instance") {
    const Job job = job_in(FLUX_JOB_STATE_SCHED);
    WaitFacts facts;
    facts.route =
        Json::parse(R"({"child":5,"partitions":[{"name":"spare","takes":false,"rule":"at most 1h"}]})").value();
    facts.hops = {{5, 9, "batch", "batch"}};
    WaitBelow below{job, {}};
    below.facts.route = Json::parse(R"({"child":0,"partitions":[{"name":"left","takes":true,"away":"is drained"},)"
                                    R"({"name":"right","takes":false,"rule":"at most 2h"}]})")
                            .value();
    facts.below = std::make_shared<const WaitBelow>(std::move(below));
    CHECK(why(job, facts) == "partition-away");
    const Json reason = wait_reason(job, facts);
    CHECK(text_at(reason.get(), "text").find("left is drained") != std::string::npos);
    CHECK(text_at(reason.get(), "partition") == "batch");
    // Mutant: the partitions of the outer instance hide those of the inner one.
    const auto not_taken = items_at(reason.get(), "not_taken");
    REQUIRE(not_taken.size() == 2);
    CHECK((text_at(not_taken[0], "name") == "right" && text_at(not_taken[1], "name") == "spare"));
}

TEST_CASE("wait reason: sentences") {
    Json reason = object("text", Json::string("has its resources free"));
    CHECK(wait_text("It", reason.get(), false) == "It has its resources free.\n");
    reason.set("behind", 2LL).set("place", 3LL);
    CHECK(wait_text("It", reason.get(), false) ==
          "It has its resources free.\nIt is number 3 in the queue; f3 is the first pending job.\n");
    json_object_del(reason.get(), "behind");  // as a private instance answers
    CHECK(wait_text("It", reason.get(), false) ==
          "It has its resources free.\nIt is number 3 in the queue; another user's job is the first pending job.\n");
    reason.set("reason", "held");
    CHECK(wait_text("It", reason.get(), false) == "It has its resources free.\n");
    reason.set("is_too_far_back", true);
    CHECK(wait_text("It", reason.get(), false) ==
          "It has its resources free; it is too far back in the queue for an estimated start.\n");
}
