// SPDX-License-Identifier: LGPL-3.0-only
// job-list constraints and the view of a job.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/tables/job_attrs.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

bool matches(const Job& job, const std::string& constraint) {
    auto filter = compile_constraint(json(constraint).get());
    REQUIRE(filter);
    return (*filter)(job);
}

std::string shown(const Job& job, const std::string& names) {
    const auto attributes = JobAttributes::of(json(names).get());
    REQUIRE(attributes);
    return job_text(job, *attributes);
}

}  // namespace

TEST_CASE("constraint: a query ends when it has made too many comparisons") {
    Life life(9);
    life.to_inactive(256);
    const auto is_answered = [&](const std::string& constraint, std::uint64_t max) {
        Comparisons comparisons(max);
        auto filter = compile_constraint(json(constraint).get(), &comparisons);
        CHECK(filter.has_value() == !comparisons.is_exhausted());
        const bool is_match = filter && (*filter)(life.job);
        CHECK(comparisons.spend(0) == !comparisons.is_exhausted());
        return is_match && !comparisons.is_exhausted();
    };
    // Compiled: 4 operators with 4 values. Compared: the same.
    const std::string asked = R"({"or":[{"name":["x"]},{"not":[{"userid":[1,2,3]}]}]})";
    CHECK(is_answered(asked, 404 + 8));
    CHECK_FALSE(is_answered(asked, 404 + 7));
    CHECK_FALSE(is_answered(asked, 403));
    CHECK(is_answered(R"({"and":[{},{}]})", 300 + 3));
    CHECK_FALSE(is_answered(R"({"and":[{},{}]})", 300 + 2));
    life.job.r.make().facts.nnodes = 50;
    CHECK(is_answered(R"({"not":[{"hostlist":["n1"]}]})", 201 + 3 + 50));
    CHECK_FALSE(is_answered(R"({"not":[{"hostlist":["n1"]}]})", 201 + 2 + 50));
}

TEST_CASE("constraint: a guest's has some thousand operators, though all of them are empty") {
    const auto of = [](std::size_t operators) {
        std::string all = "{}";
        for (std::size_t i = 2; i < operators; i++) {
            all += ",{}";
        }
        return json(R"({"and":[)" + all + "]}");
    };
    Comparisons enough(Comparisons::guest_max), too_few(Comparisons::guest_max);
    CHECK(compile_constraint(of(10'000).get(), &enough));
    CHECK_FALSE(compile_constraint(of(10'001).get(), &too_few));
    CHECK(too_few.is_exhausted());
}

TEST_CASE("constraint: ranks in any order and over each other") {
    Life life(9);
    life.to_inactive(256);
    life.job.r.make().facts.ranks = "7";
    CHECK(matches(life.job, R"({"ranks":["9","5-8","0-7","3"]})"));
    CHECK_FALSE(matches(life.job, R"({"ranks":["9","8","0-6","3"]})"));
}

TEST_CASE("constraint: operators") {
    Life life(9);
    life.to_inactive(256);
    life.job.r.make().facts = resource_facts(
        json(R"({"version":1,"execution":{"R_lite":[{"rank":"2","children":{"core":"0"}}],"nodelist":["n2"]}})").get());
    const Job& job = life.job;
    CHECK(matches(job, "{}"));
    CHECK(matches(job, R"({"userid":[7]})"));
    CHECK(matches(job, R"({"userid":[-1]})"));
    CHECK_FALSE(matches(job, R"({"userid":[8]})"));
    CHECK(matches(job, R"({"name":["hostname"]})"));
    CHECK(matches(job, R"({"states":[64]})"));
    CHECK(matches(job, R"({"states":["inactive"]})"));
    CHECK_FALSE(matches(job, R"({"states":["pending"]})"));
    CHECK(matches(job, R"({"results":["failed"]})"));
    CHECK_FALSE(matches(job, R"({"results":[1]})"));
    CHECK(matches(job, R"({"hostlist":["n[1-3]"]})"));
    CHECK(matches(job, R"({"ranks":["0-5"]})"));
    CHECK(matches(job, R"({"t_run":[">1699999999"]})"));
    CHECK_FALSE(matches(job, R"({"t_run":["<1699999999.5"]})"));
    CHECK(matches(job, R"({"and":[{"userid":[7]},{"not":[{"states":[2]}]}]})"));
    CHECK(matches(job, R"({"or":[{"userid":[8]},{"name":["hostname"]}]})"));
    CHECK(matches(job, R"({"or":[]})"));
}

TEST_CASE("constraint: bad ones are refused") {
    for (const char* text : {"[]", R"({"a":[1],"b":[2]})", R"({"colour":["red"]})", R"({"userid":["me"]})",
                             R"({"states":["asleep"]})", R"({"t_run":["5"]})", R"({"userid":7})"})
        CHECK_FALSE(compile_constraint(json(text).get()));
}

TEST_CASE("constraint: all its hostlists together name no more hosts than a machine has") {
    CHECK(compile_constraint(json(R"({"hostlist":["a[0-65535]"]})").get()));
    CHECK(compile_constraint(json(R"({"or":[{"hostlist":["a[1-32768]"]},{"hostlist":["b[1-32768]"]}]})").get()));
    for (const char* text : {R"({"hostlist":["a[0-65536]"]})", R"({"hostlist":["a[1-65536]","b"]})",
                             R"({"or":[{"hostlist":["a[1-32768]"]},{"not":[{"hostlist":["b[0-32768]"]}]}]})"}) {
        const auto refused = compile_constraint(json(text).get());
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find("names at most 65536 hosts in all") != std::string::npos);
    }
}

TEST_CASE("constraint: the state mask never excludes a match") {
    CHECK(states_of_constraint(json(R"({"and":[{"states":[8]},{"userid":[1]}]})").get()) == 8);
    CHECK(states_of_constraint(json(R"({"or":[{"states":[8]},{"results":[1]}]})").get()) == 72);
    CHECK(states_of_constraint(json(R"({"or":[{"states":[8]},{"userid":[1]}]})").get()) == 127);
    CHECK(states_of_constraint(json(R"({"not":[{"states":[8]}]})").get()) == 127);
}

TEST_CASE("attributes: unset ones are left out, unknown ones refused") {
    Life life(5);
    life.to_sched();
    CHECK(shown(life.job, R"(["userid","priority","t_run","result","queue"])") ==
          R"({"id":5,"userid":7,"priority":100})");
    CHECK(JobAttributes::of(json(R"(["colour"])").get()).error().message == "colour is not a valid attribute");
    CHECK(Json::parse(shown(life.job, R"(["all"])")));
}

TEST_CASE("attributes: each is shown once, however often it is named") {
    Life life(5);
    life.to_sched();
    CHECK(shown(life.job, R"(["urgency","userid","urgency","userid"])") == R"({"id":5,"urgency":16,"userid":7})");
    CHECK(shown(life.job, R"(["all","all","userid"])") == shown(life.job, R"(["all"])"));
}
