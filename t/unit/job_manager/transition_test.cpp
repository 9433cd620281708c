// SPDX-License-Identifier: LGPL-3.0-only
// RFC 21: which event leads where, and which are refused.
#include <catch2/catch.hpp>

#include "t/unit/job_manager/testing.hpp"

using namespace weir::broker::jobs;
using weir::broker::jobs::testing::json;
using weir::broker::jobs::testing::Life;

TEST_CASE("transition: a job walks through all states") {
    Life life;
    CHECK(life.job.state == State::created);
    REQUIRE(life.post("submit", R"({"userid":7,"urgency":16,"flags":0})"));
    CHECK(life.job.state == State::created);
    REQUIRE(life.post("validate"));
    CHECK(life.job.state == State::depend);
    REQUIRE(life.post("depend"));
    CHECK(life.job.state == State::priority);
    REQUIRE(life.post("priority", R"({"priority":42})"));
    CHECK(life.job.state == State::sched);
    CHECK(life.job.priority == 42);
    REQUIRE(life.post("alloc"));
    CHECK(life.job.state == State::run);
    CHECK(life.job.has_resources);
    REQUIRE(life.post("finish", R"({"status":0})"));
    CHECK(life.job.state == State::cleanup);
    REQUIRE(life.post("free"));
    CHECK_FALSE(life.job.has_resources);
    REQUIRE(life.post("clean"));
    CHECK(life.job.state == State::inactive);
    CHECK(life.job.result() == JobResult::completed);
}

TEST_CASE("transition: urgency, restart and update return a scheduled job to PRIORITY") {
    const auto [name, context] =
        GENERATE(table<std::string, std::string>({{"urgency", R"({"urgency":20})"},
                                                  {"flux-restart", ""},
                                                  {"jobspec-update", R"({"attributes.system.duration":9})"}}));
    Life life;
    life.to_sched();
    REQUIRE(life.post(name, context));
    CHECK(life.job.state == State::priority);
}

TEST_CASE("transition: the time of the first entry into a state stays") {
    Life life;
    life.to_sched();
    const std::int64_t first = life.job.t_state_us[state_index(State::sched)];
    REQUIRE(life.post("urgency", R"({"urgency":20})"));
    REQUIRE(life.post("priority", R"({"priority":7})"));
    CHECK(life.job.state == State::sched);
    CHECK(life.job.t_state_us[state_index(State::sched)] == first);
}

TEST_CASE("transition: a priority event in RUN changes nothing") {
    Life life;
    life.to_run();
    REQUIRE(life.post("priority", R"({"priority":5})"));
    CHECK(life.job.state == State::run);
    CHECK(life.job.priority == 100);
}

TEST_CASE("transition: only severity 0 ends a job, and its type decides the result") {
    Life life;
    life.to_run();
    REQUIRE(life.post("exception", R"({"type":"warn","severity":3,"note":"x"})"));
    CHECK(life.job.state == State::run);
    REQUIRE(life.post("exception", R"({"type":"cancel","severity":0,"note":"y"})"));
    CHECK(life.job.state == State::cleanup);
    CHECK(life.job.exception->type == "cancel");
    CHECK(life.job.result() == JobResult::canceled);
    REQUIRE(life.post("finish", R"({"status":15})"));
    CHECK(life.job.wait_status == 15);
    CHECK(std::string(json_string_value(json_object_get(life.job.end_event.get(), "name"))) == "exception");
}

TEST_CASE("transition: a fatal exception in NEW is refused and leaves no trace") {
    Life life;
    REQUIRE(life.post("submit", R"({"userid":7,"urgency":16,"flags":0})"));
    CHECK_FALSE(life.post("exception", R"({"type":"cancel","severity":0})"));
    CHECK(life.job.state == State::created);
    CHECK_FALSE(life.job.had_exception);
}

TEST_CASE("transition: a bad context is refused with its event's name") {
    Life life;
    life.to_sched();
    const auto refused = life.post("urgency", R"({"urgency":32})");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("urgency") != std::string::npos);
    CHECK(life.job.urgency == 16);
}

TEST_CASE("transition: a second submit is refused") {
    Life life;
    REQUIRE(life.post("submit", R"({"userid":7,"urgency":16,"flags":0})"));
    CHECK_FALSE(life.post("submit", R"({"userid":8,"urgency":16,"flags":0})"));
    CHECK(life.job.userid == 7);
}

TEST_CASE("transition: a memo merges under user, null removes") {
    Life life;
    life.to_sched();
    REQUIRE(life.post("memo", R"({"a":{"b":1,"c":2}})"));
    REQUIRE(life.post("memo", R"({"a":{"b":null}})"));
    CHECK(life.job.annotations.dump() == R"({"user":{"a":{"c":2}}})");
    REQUIRE(life.post("memo", R"({"a":{"c":null}})"));
    CHECK_FALSE(life.job.annotations);
}

TEST_CASE("transition: a jobspec update changes text and facts and keeps the first text") {
    Life life;
    life.to_sched();
    REQUIRE(life.post("jobspec-update", R"({"attributes.system.queue":"batch"})"));
    CHECK(life.job.facts.queue == "batch");
    CHECK(life.job.jobspec_text.redacted.find("batch") != std::string::npos);
    CHECK(life.job.jobspec_text.original->find("batch") == std::string::npos);
    CHECK_FALSE(life.post("jobspec-update", R"({"version":2})"));
}

TEST_CASE("transition: prolog events count, epilog ones only in CLEANUP") {
    Life life;
    life.to_sched();
    REQUIRE(life.post("alloc"));
    REQUIRE(life.post("prolog-start", R"({"description":"p"})"));
    REQUIRE(life.post("epilog-start", R"({"description":"e"})"));
    CHECK(life.job.perilog_active == 1);
    REQUIRE(life.post("prolog-finish", R"({"description":"p","status":0})"));
    CHECK(life.job.perilog_active == 0);
}

TEST_CASE("event: encode and decode are inverse, with whole microseconds") {
    const Event event{1700000000000001, "urgency", json(R"({"urgency":3})")};
    const std::string line = encode(event);
    CHECK(line == R"({"timestamp":1700000000.000001,"name":"urgency","context":{"urgency":3}})");
    weir::FlatJson flat;
    const auto back = read_entry(flat.read(line));
    REQUIRE(back);
    CHECK(back->t_us == event.t_us);
    CHECK(back->is_as_encoded);
    weir::FlatJson context;
    CHECK(encode(event_of(*back, context)) == line);
    CHECK(name_of_line(line) == "urgency");
}
