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

TEST_CASE("queues: a disabled queue refuses with its reason, a reload keeps that") {
    Queues queues = two_queues();
    REQUIRE(queues.enable("debug", false, "maintenance"));
    REQUIRE(queues.configure(json(R"({"queues":{"debug":{},"batch":{}}})").get()));
    Json spec = json(jobspec_text(R"("duration":1,"queue":"debug")"));
    CHECK(queues.prepare(spec.get()).error().message == "job submission to debug is disabled: maintenance");
}

TEST_CASE("queues: a bad configuration changes nothing") {
    Queues queues = two_queues();
    CHECK_FALSE(queues.configure(json(R"({"queues":{"x":{"requires":7}}})").get()));
    CHECK_FALSE(queues.configure(
        json(R"({"queues":{"x":{}},"policy":{"jobspec":{"defaults":{"system":{"queue":"y"}}}}})").get()));
    CHECK(queues.names() == std::vector<std::string>{"batch", "debug"});
}
