// SPDX-License-Identifier: LGPL-3.0-only
// The responses of the stream of job events.
#include "broker/services/job-manager/codecs/event_stream.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_manager/testing.hpp"

using weir::Json;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

/// The keys of a response, and how many events it has.
std::pair<std::vector<std::string>, std::size_t> facts(const std::string& text) {
    const Json response = json(text);
    std::vector<std::string> keys;
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(response.get(), key, value) {
        keys.emplace_back(key);
    }
    return {keys, json_array_size(json_object_get(response.get(), "events"))};
}

using Facts = std::pair<std::vector<std::string>, std::size_t>;

}  // namespace

TEST_CASE("event stream: the first event has the jobspec, alloc has R, others have neither") {
    Life life;
    life.to_run();
    life.job.r.make().text = R"({"version":1})";
    CHECK(facts(live_event_text(life.job, "submit", "{}")) == Facts{{"id", "jobspec", "events"}, 1});
    CHECK(facts(live_event_text(life.job, "alloc", "{}")) == Facts{{"id", "R", "events"}, 1});
    CHECK(facts(live_event_text(life.job, "start", "{}")) == Facts{{"id", "events"}, 1});
}

TEST_CASE("event stream: a later event of the job is inserted into the response of the first") {
    Life life;
    life.to_run();
    const auto both = [&](const char* name) {
        std::string text = live_event_text(life.job, name, R"({"name":"first"})");
        return text.insert(text.size() - live_event_tail, later_event_text(R"({"name":"second"})"));
    };
    for (const char* name : {"submit", "alloc", "start"}) {
        const Json response = json(both(name));
        const json_t* events = json_object_get(response.get(), "events");
        REQUIRE(json_array_size(events) == 2);
        CHECK(json_string_value(json_object_get(json_array_get(events, 1), "name")) == std::string("second"));
        CHECK(brings_more(name) == (std::string(name) != "start"));
    }
}

TEST_CASE("event stream: jobs together are a list of what each would be by itself") {
    Life life;
    life.to_run();
    const std::string job = live_event_text(life.job, "submit", "{}");
    std::string text = together_text(job);
    CHECK(text == "{\"jobs\":[" + job + "]}");
    text.insert(text.size() - together_tail - live_event_tail, later_event_text("{}"));
    text.insert(text.size() - together_tail, "," + live_event_text(life.job, "start", "{}"));
    const Json response = json(text);
    const json_t* jobs = json_object_get(response.get(), "jobs");
    REQUIRE(json_array_size(jobs) == 2);
    CHECK(json_array_size(json_object_get(json_array_get(jobs, 0), "events")) == 2);
    CHECK(json_array_size(json_object_get(json_array_get(jobs, 1), "events")) == 1);
}

TEST_CASE("event stream: the backlog has the accepted events of a job, with jobspec") {
    Life life;
    life.to_sched();
    CHECK(facts(backlog_text(life.job)) == Facts{{"id", "events", "jobspec"}, 4});
    const auto no_priority = [](std::string_view line) { return line.find("priority") == line.npos; };
    CHECK(facts(backlog_text(life.job, no_priority)) == Facts{{"id", "events", "jobspec"}, 3});
    CHECK(facts(std::string(end_of_backlog)) == Facts{{"id", "events"}, 0});
}
