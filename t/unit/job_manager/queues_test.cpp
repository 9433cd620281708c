// SPDX-License-Identifier: LGPL-3.0-only
// Queues: which jobs are admitted, and with which defaults.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/tables/queues.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

Queues two_queues() {
    Queues queues;
    const auto done = queues.configure(
        json(R"({"queues":{"debug":{"requires":["dbg"]},"batch":{"policy":{"jobspec":{"defaults":{"system":)"
             R"({"duration":"2h"}}}}}},"policy":{"jobspec":{"defaults":{"system":{"queue":"batch","duration":60}}}}})")
            .get());
    WEIR_CHECK(done.has_value());
    return queues;
}

}  // namespace

TEST_CASE("queues: an unknown queue is refused with the nearest name") {
    Queues queues = two_queues();
    Json spec = json(jobspec_text(R"("duration":1,"queue":"debgu")"));
    const auto refused = queues.prepare(spec.get());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "'debgu' is not a valid queue; did you mean 'debug'?");
}

TEST_CASE("queues: after a restart they are closed as they were, but for a stop of this life only") {
    Queues before = two_queues();
    REQUIRE(before.enable("debug", false, "repairs"));
    REQUIRE(before.start("", false, "maintenance"));
    REQUIRE(before.start("debug", true, ""));
    REQUIRE(before.start("batch", true, "", false));
    CHECK(before.closed().dump() == R"({"batch":{"stopped":"maintenance"},"debug":{"disabled":"repairs"}})");

    Queues after = two_queues();
    after.close(before.closed().get());
    CHECK_FALSE(after.is_started("batch"));
    CHECK(after.is_started("debug"));
    CHECK_FALSE((*after.find("debug"))->is_enabled);
    CHECK((*after.find("batch"))->stop_reason == "maintenance");
    CHECK(after.closed().dump() == before.closed().dump());

    Queues fewer;
    REQUIRE(fewer.configure(json("{}").get()));
    fewer.close(before.closed().get());
    CHECK(fewer.is_started(""));
}

TEST_CASE("queues: a queue where none is configured is refused") {
    Queues queues;
    REQUIRE(queues.configure(json("{}").get()));
    Json spec = json(jobspec_text(R"("duration":1,"queue":"batch")"));
    CHECK(queues.prepare(spec.get()).error().message.find("has no queues") != std::string::npos);
}

TEST_CASE("queues: the defaults fill queue, duration and constraints") {
    Queues queues = two_queues();
    Json plain = json(jobspec_text(R"("duration":0)"));
    REQUIRE(queues.prepare(plain.get()));
    CHECK(jobspec_facts(plain.dump()).queue == "batch");
    CHECK(jobspec_facts(plain.dump()).duration == 7200);
    Json debug = json(jobspec_text(R"("duration":5,"queue":"debug","constraints":{"ranks":["0"]})"));
    REQUIRE(queues.prepare(debug.get()));
    CHECK(jobspec_facts(debug.dump()).duration == 5);
    CHECK(Json::ref(read_path(debug.get(), "attributes.system.constraints")).dump() ==
          R"({"and":[{"ranks":["0"]},{"properties":["dbg"]}]})");
}

// Mutant: broker/services/job-manager/tables/queues.cpp: json_equal(constraints, added.get()) => false
TEST_CASE("queues: a job that moves gets what its new queue needs in place of what the old one needed") {
    const auto moved = [](const std::string& constraints, const std::string& from, const std::string& to) {
        Queues queues = two_queues();
        Json spec = json(jobspec_text(R"("duration":5,"queue":")" + to + R"(","constraints":)" + constraints));
        const auto done = queues.move(spec.get(), from);
        return done ? Json::ref(read_path(spec.get(), "attributes.system.constraints")).dump() : done.error().message;
    };
    CHECK(moved("{}", "batch", "debug") == R"({"properties":["dbg"]})");
    CHECK(moved(R"({"properties":["dbg"]})", "debug", "batch") == "{}");
    CHECK(moved(R"({"ranks":["0"]})", "batch", "debug") == R"({"and":[{"ranks":["0"]},{"properties":["dbg"]}]})");
    CHECK(moved(R"({"and":[{"ranks":["0"]},{"properties":["dbg"]}]})", "debug", "batch") == R"({"ranks":["0"]})");
    CHECK(moved("{}", "gone", "debug") == R"({"properties":["dbg"]})");
    const std::string refused = "the job has constraints that are not those of its queue 'debug'";
    CHECK(moved(R"({"properties":["other"]})", "debug", "batch").starts_with(refused));
    CHECK(moved(R"({"properties":["other"]})", "gone", "batch").starts_with("the job has constraints"));
}

TEST_CASE("queues: a disabled queue refuses with its reason, a reload keeps that") {
    Queues queues = two_queues();
    REQUIRE(queues.enable("debug", false, "maintenance"));
    REQUIRE(queues.configure(json(R"({"queues":{"debug":{},"batch":{}}})").get()));
    Json spec = json(jobspec_text(R"("duration":1,"queue":"debug")"));
    CHECK(queues.prepare(spec.get()).error().message == "job submission to debug is disabled: maintenance");
    CHECK(queues.move(spec.get(), "batch").error().message == "queue debug is currently disabled");
    Json leaves = json(jobspec_text(R"("duration":1,"queue":"batch")"));
    CHECK(queues.move(leaves.get(), "debug"));
}

TEST_CASE("queues: a bad configuration changes nothing") {
    Queues queues = two_queues();
    CHECK_FALSE(queues.configure(json(R"({"queues":{"x":{"requires":7}}})").get()));
    CHECK_FALSE(queues.configure(
        json(R"({"queues":{"x":{}},"policy":{"jobspec":{"defaults":{"system":{"queue":"y"}}}}})").get()));
    CHECK(queues.names() == std::vector<std::string>{"batch", "debug"});
}

namespace {

/// A general limit of two hours and 12 cores; `big` has none, `debug` lower ones.
Queues limited_queues() {
    Queues queues;
    const auto done = queues.configure(
        json(
            R"({"policy":{"limits":{"duration":"2h","job-size":{"max":{"ncores":12,"ngpus":2}}}},"queues":{"batch":{},)"
            R"("debug":{"policy":{"limits":{"duration":"10m","job-size":{"max":{"nnodes":1}}}}},)"
            R"("big":{"policy":{"limits":{"duration":"0","job-size":{"max":{"ncores":-1},"min":{"nnodes":2}}}}}}})")
            .get());
    WEIR_CHECK(done.has_value());
    return queues;
}

/// What a job of this many nodes, with so many slots of two cores and one gpu on each, is told.
std::string told(const Queues& queues, const std::string& queue, double duration, int nodes, int slots,
                 const char* gpu = "") {
    const std::string text = R"({"resources":[{"type":"node","count":)" + std::to_string(nodes) +
                             R"(,"with":[{"type":"slot","label":"task","count":)" + std::to_string(slots) +
                             R"(,"with":[{"type":"core","count":2})" + gpu +
                             R"(]}]}],"attributes":{"system":{"duration":)" + std::to_string(duration) +
                             R"(,"queue":")" + queue + R"("}}})";
    const auto kept = queues.check_limits(jobspec_facts(text), text);
    return kept ? "" : kept.error().message;
}

}  // namespace

// Mutant: broker/services/job-manager/tables/policy_limits.cpp: duration_s <= limit => duration_s < limit
TEST_CASE("queues: a job up to the limit is accepted, one above it is told what it asked for and the limit") {
    const Queues queues = limited_queues();
    CHECK(told(queues, "batch", 7200, 2, 3) == "");
    CHECK(told(queues, "batch", 10800, 1, 1) == "requested duration (3h) exceeds policy limit of 2h for queue batch");
    CHECK(told(queues, "batch", 0, 1, 1) ==
          "requested duration (unlimited) exceeds policy limit of 2h for queue batch");
    CHECK(told(queues, "batch", 60, 1, 7) == "requested ncores (14) exceeds policy limit of 12 for queue batch");
    CHECK(told(queues, "batch", 60, 1, 3, R"(,{"type":"gpu","count":1})") ==
          "requested ngpus (3) exceeds policy limit of 2 for queue batch");
}

TEST_CASE("queues: a queue's limits replace the general ones, each by itself") {
    const Queues queues = limited_queues();
    CHECK(told(queues, "debug", 600, 1, 6) == "");
    CHECK(told(queues, "debug", 601, 1, 1) ==
          "requested duration (10m 1s) exceeds policy limit of 10m for queue debug");
    CHECK(told(queues, "debug", 60, 2, 1) == "requested nnodes (2) exceeds policy limit of 1 for queue debug");
    CHECK(told(queues, "debug", 60, 1, 7) == "requested ncores (14) exceeds policy limit of 12 for queue debug");
    CHECK(told(queues, "big", 0, 2, 100) == "");
    CHECK(told(queues, "big", 60, 1, 1) == "requested nnodes (1) is under policy limit of 2 for queue big");
    CHECK(told(queues, "gone", 10800, 1, 1) == "requested duration (3h) exceeds policy limit of 2h for queue gone");
}

TEST_CASE("queues: no count is so large that it passes a limit") {
    const Queues queues = limited_queues();
    const std::string text = R"({"resources":[{"type":"slot","label":"task","count":4294967297,"with":[)"
                             R"({"type":"core","count":4294967297}]}],"attributes":{"system":{"duration":60}}})";
    CHECK_FALSE(queues.check_limits(jobspec_facts(text), text));
}

TEST_CASE("queues: a bad limit is refused by its key") {
    for (const auto& [limits, words] :
         {std::pair(R"({"duration":"soon"})", "queues.a.policy.limits.duration: "),
          std::pair(R"({"duration":60})", "queues.a.policy.limits.duration: "),
          std::pair(R"({"job-size":{"max":{"ncores":-2}}})", "queues.a.policy.limits.job-size.max.ncores: must be -1"),
          std::pair(R"({"job-size":{"min":{"nnodes":"1"}}})", "queues.a.policy.limits.job-size.min.nnodes: must")}) {
        Queues queues;
        const auto done =
            queues.configure(json(std::string(R"({"queues":{"a":{"policy":{"limits":)") + limits + "}}}}").get());
        REQUIRE_FALSE(done);
        CHECK(done.error().message.find(words) == 0);
    }
}
