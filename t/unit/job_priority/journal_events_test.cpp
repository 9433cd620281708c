// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/journal_events.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

Result<JournalMessage> journal(const std::string& text) {
    FlatJson json;
    return read_journal(json.read(text));
}

constexpr const char* jobspec =
    R"({"version":1,"resources":[{"type":"node","count":2,"with":[{"type":"slot","count":3,"label":"task",
        "with":[{"type":"core","count":4},{"type":"gpu","count":1}]}]}],"tasks":[],
        "attributes":{"system":{"bank":"bio","queue":"debug","qos":"high","weir":{"userid":5001,"jobid":7}}}})";

}  // namespace

TEST_CASE("journal events: an instance that serves one queue is told from one that serves several") {
    const auto serves = [](const std::string& list) {
        const auto message = journal(
            R"({"id":5,"events":[{"timestamp":1,"name":"submit","context":{"userid":1,"urgency":16}}],
            "jobspec":{"attributes":{"system":{"weir":{"serves":)" +
            list + "}}}}}");
        REQUIRE(message);
        return std::get<SubmitEvent>(message->events.at(0).what).request.serves;
    };
    CHECK(serves(R"(["debug"])") == "debug");
    CHECK(serves(R"(["debug","batch"])").empty());
    CHECK(serves("[7]").empty());
    CHECK(serves("{}").empty());
}

TEST_CASE("journal events: of a job from above the queue is read that its user submitted it to") {
    const auto message = journal(
        R"({"id":5,"events":[{"timestamp":1,"name":"submit","context":{"userid":1,"urgency":16}}],
            "jobspec":{"attributes":{"system":{"queue":"here","weir":{"jobid":7,"queue":"batch"}}}}})");
    REQUIRE(message);
    const JobRequest request = std::get<SubmitEvent>(message->events.at(0).what).request;
    CHECK(request.queue == "here");
    CHECK(request.queue_above == "batch");
    CHECK(request.named_queue() == "batch");
}

TEST_CASE("journal events: an account that was filled in is told from one that the submitter named") {
    const auto filled_in = [](const std::string& system) {
        const auto message = journal(
            R"({"id":5,"events":[{"timestamp":1,"name":"submit","context":{"userid":1,"urgency":16}}],
            "jobspec":{"attributes":{"system":)" +
            system + "}}}");
        REQUIRE(message);
        return std::get<SubmitEvent>(message->events.at(0).what).request.is_account_filled_in;
    };
    CHECK(filled_in(R"({"bank":"bio","weir":{"default_bank":"bio"}})"));
    CHECK_FALSE(filled_in(R"({"bank":"chem","weir":{"default_bank":"bio"}})"));
    CHECK_FALSE(filled_in(R"({"weir":{"default_bank":""}})"));
    CHECK_FALSE(filled_in(R"({"bank":"bio","weir":7})"));
    const auto update = journal(
        R"({"id":5,"events":[{"timestamp":1,"name":"jobspec-update","context":{"attributes.system.bank":"bio",
        "attributes.system.weir.default_bank":"bio"}}]})");
    REQUIRE(update);
    CHECK(std::get<UpdateEvent>(update->events.at(0).what).filled_in == "bio");
}

TEST_CASE("journal events: a backlog message becomes the events that matter, in their order") {
    const std::string text = std::string(R"({"id":5,"events":[
        {"timestamp":1767225600.5,"name":"submit","context":{"userid":5002,"urgency":20,"flags":0,"version":1}},
        {"timestamp":1767225601,"name":"validate"},
        {"timestamp":1767225601.25,"name":"depend"},
        {"timestamp":1767225602,"name":"priority","context":{"priority":7}},
        {"timestamp":1767225603,"name":"alloc"},
        {"timestamp":1767225604,"name":"free"},
        {"timestamp":1767225605,"name":"clean"}],
        "R":{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-2,5"}}],"starttime":0,"expiration":0,"nodelist":["a","b"]}},
        "jobspec":)") + jobspec +
                             "}";
    const auto message = journal(text);
    REQUIRE(message);
    REQUIRE(message->events.size() == 5);
    const auto& submit = std::get<SubmitEvent>(message->events[0].what);
    CHECK(message->events[0].time == at(0.5));
    CHECK(submit.userid == bob);
    CHECK(submit.urgency == 20);
    CHECK(submit.request == JobRequest{"bio", "debug", "high", "", 24, alice, 2, Duration::max(), {{"gpus", 6.}}});
    CHECK(std::get<AllocEvent>(message->events[2].what).cores == 8);
    CHECK(std::get<AllocEvent>(message->events[2].what).nodes == 2);
    CHECK(std::holds_alternative<CleanEvent>(message->events[4].what));
}

TEST_CASE("journal events: an update of the time limit is read as the jobspec's is, 0 as none") {
    const auto wall_time = [](const std::string& value) {
        const auto message = journal(
            R"({"id":5,"events":[{"timestamp":1767225600,"name":"jobspec-update","context":{"attributes.system.)" +
            value + "}}]}");
        REQUIRE(message);
        return std::get<UpdateEvent>(message->events.at(0).what).wall_time;
    };
    CHECK(wall_time("duration\":90.5") == weir::Duration{std::chrono::milliseconds(90500)});
    CHECK(wall_time("duration\":\"2h\"") == weir::Duration{std::chrono::hours(2)});
    CHECK(wall_time("duration\":0") == weir::Duration::max());
    CHECK_FALSE(wall_time("bank\":\"bio\"").has_value());
}

TEST_CASE("journal events: a name that is too long to store and to report is as none that is there") {
    const auto request = [](const std::string& system) {
        const auto message = journal(
            R"({"id":5,"events":[{"timestamp":1,"name":"submit","context":{"userid":1}}],
                "jobspec":{"attributes":{"system":{)" +
            system + "}}}}");
        return std::get<SubmitEvent>(message->events.at(0).what).request;
    };
    const auto named = [](const char* key, const std::string& name) {
        return "\"" + std::string(key) + "\":\"" + name + '"';
    };
    const std::string none = "(name too long)";
    CHECK(request(named("bank", std::string(1000, 'x'))).account == std::string(1000, 'x'));
    CHECK(request(named("bank", std::string(1001, 'x'))).account == none);
    CHECK(request(named("queue", std::string(255, 'x'))).queue == std::string(255, 'x'));
    CHECK(request(named("queue", std::string(256, 'x'))).queue == none);
    CHECK(request(named("qos", std::string(256, 'x'))).qos == none);
    CHECK(request(named("project", std::string(256, 'x'))).project == none);
    const JobRequest inner = request("\"weir\":{" + named("queue", std::string(256, 'x')) + R"(,"serves":[")" +
                                     std::string(256, 'x') + "\"]}");
    CHECK(inner.queue_above == none);
    CHECK(inner.serves == none);
    std::string controls;
    for (int i = 0; i < 42; ++i) {
        controls += "\\u0001";
    }
    CHECK(request(named("queue", controls)).queue == std::string(42, '\1'));
    CHECK(request(named("queue", controls + "\\u0001")).queue == none);

    const auto message = journal(R"({"id":5,"events":[{"timestamp":1,"name":"jobspec-update","context":{)" +
                                 named("attributes.system.bank", std::string(1001, 'x')) + ',' +
                                 named("attributes.system.queue", std::string(256, 'x')) + "}}]}");
    const auto& update = std::get<UpdateEvent>(message->events.at(0).what);
    CHECK(update.account == none);
    CHECK(update.queue == none);
    CHECK_FALSE(update.qos);
}

TEST_CASE("journal events: the sentinel ends the backlog") {
    CHECK(journal(R"({"id":-1,"events":[]})")->is_sentinel);
}

TEST_CASE("journal events: a job that a child instance runs is charged by its report") {
    const auto message = journal(
        R"({"id":1,"events":[{"timestamp":1,"name":"alloc","context":{"bypass":true,"annotations":{"weir":{"child":9}}}}]})");
    CHECK(std::get<AllocEvent>(message->events[0].what).is_charged_elsewhere);
}

TEST_CASE("journal events: a job that a plugin refused is over, as after clean") {
    const auto message = journal(
        R"({"id":1,"events":[{"timestamp":1,"name":"submit","context":{"userid":1}},{"timestamp":1,"name":"invalidate"}],"jobspec":{}})");
    REQUIRE(message);
    REQUIRE(message->events.size() == 2);
    CHECK(std::holds_alternative<CleanEvent>(message->events[1].what));
    CHECK(journal_filter().at("invalidate"));
}

TEST_CASE("journal events: our own priority events are not asked for") {
    const Json filter = journal_filter();
    CHECK(json_object_get(filter.get(), "priority") == nullptr);
    CHECK(json_object_get(filter.get(), "submit") != nullptr);
}

TEST_CASE("journal events: the broker's return says when it went, each as an event of its own") {
    const auto times = [](const std::string& seconds) {
        const auto message = journal(R"({"id":5,"events":[{"timestamp":1767225610.25,"name":"weir.down","context":{)" +
                                     seconds + "}}]}");
        REQUIRE(message);
        std::vector<Instant> all;
        for (const JobEvent& event : message->events) {
            all.push_back(event.time);
        }
        return all;
    };
    CHECK(times(R"("seconds":7.5)") == std::vector<Instant>{at(2.75), at(10.25)});
    for (const char* bad : {R"("seconds":-1)", R"("seconds":1e300)", R"("seconds":1e11)"}) {
        CHECK(times(bad) == std::vector<Instant>{at(10.25)});
    }
}

TEST_CASE("journal events: messages that are no journal responses are errors, not crashes") {
    for (const char* bad : {"{}", "[]", "3", R"({"id":1})", R"({"id":"x","events":[]})", R"({"id":1,"events":[{}]})",
                            R"({"id":1,"events":[{"timestamp":"x","name":"submit"}]})", R"({"id":1,"events":[7]})"}) {
        CAPTURE(bad);
        CHECK_FALSE(journal(bad));
    }
}

TEST_CASE("journal events: an odd jobspec still has an account, and at least one core") {
    const auto message = journal(
        R"({"id":1,"events":[{"timestamp":1,"name":"submit","context":{"userid":1}}],"jobspec":{"resources":"?","attributes":{"system":{"bank":"b"}}}})");
    REQUIRE(message);
    const auto& submit = std::get<SubmitEvent>(message->events[0].what);
    CHECK(submit.request.account == "b");
    CHECK(submit.request.cores == 1);
    CHECK(submit.urgency == 16);
}

TEST_CASE("journal events: the nodes of a job that names none, and those that it requests whole, are read") {
    const auto requested = [](const std::string& resources) {
        const auto message = journal(
            R"({"id":5,"events":[{"timestamp":1,"name":"submit","context":{"userid":1}}],"jobspec":{"resources":)" +
            resources + "}}");
        return std::get<SubmitEvent>(message->events.at(0).what).request;
    };
    const std::string slot = R"({"type":"slot","count":12,"with":[{"type":"core","count":1}]})";
    const JobRequest slots = requested("[" + slot + "]");
    CHECK(slots.nodes == 1);
    CHECK(slots.spread == 12);
    const JobRequest whole = requested(R"([{"type":"node","count":2,"exclusive":true,"with":[)" + slot + "]}]");
    CHECK(whole.nodes == 2);
    CHECK(whole.spread == 0);
    CHECK(whole.whole_nodes == 2);
    const JobRequest part = requested(R"([{"type":"node","count":2,"exclusive":false,"with":[)" + slot + "]}]");
    CHECK(part.whole_nodes == 0);
    const JobRequest inner = requested(
        R"([{"type":"slot","count":3,"with":[{"type":"node","count":2,"with":[{"type":"core","count":1}]}]}])");
    CHECK(inner.nodes == 6);
    CHECK(inner.spread == 0);
}

TEST_CASE("journal events: amounts of every type but cores and nodes multiply along the jobspec") {
    const auto message = journal(R"({"id":5,"events":[
        {"timestamp":1,"name":"submit","context":{"userid":1,"urgency":16,"flags":0,"version":1}},
        {"timestamp":2,"name":"jobspec-update","context":{"attributes.system.duration":60}}],
        "jobspec":{"version":1,"resources":[{"type":"node","count":2,"with":[{"type":"slot","count":3,"label":"t",
          "with":[{"type":"core","count":4},{"type":"gpu","count":2},{"type":"fpga","count":1}]}]}],
          "attributes":{"system":{"duration":0,"weir":{"memory_per_slot":"512MiB"}}}}})");
    REQUIRE(message);
    const JobRequest request = std::get<SubmitEvent>(message->events[0].what).request;
    CHECK(request.cores == 24);
    CHECK(request.nodes == 2);
    CHECK(request.amounts == std::map<std::string, double>{{"gpus", 12.}, {"fpga", 6.}, {"memory", 3.}});
    CHECK(std::get<UpdateEvent>(message->events[1].what).wall_time == std::chrono::seconds(60));
}
