// SPDX-License-Identifier: LGPL-3.0-only
// The responses of the stream of job events.
#include "broker/services/job-manager/codecs/event_stream.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_manager/testing.hpp"

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
    CHECK(facts(live_event_text(life.job, "submit", "{}")) == Facts{{"id", "events", "jobspec"}, 1});
    CHECK(facts(live_event_text(life.job, "alloc", "{}")) == Facts{{"id", "events", "R"}, 1});
    CHECK(facts(live_event_text(life.job, "start", "{}")) == Facts{{"id", "events"}, 1});
}

TEST_CASE("event stream: the backlog has the accepted events of a job, with jobspec") {
    Life life;
    life.to_sched();
    CHECK(facts(backlog_text(life.job)) == Facts{{"id", "events", "jobspec"}, 4});
    const auto no_priority = [](std::string_view line) { return line.find("priority") == line.npos; };
    CHECK(facts(backlog_text(life.job, no_priority)) == Facts{{"id", "events", "jobspec"}, 3});
    CHECK(facts(std::string(end_of_backlog)) == Facts{{"id", "events"}, 0});
}
