// SPDX-License-Identifier: LGPL-3.0-only
// The arguments of plugin calls about jobs: each call has the values of its own job, whoever had them before.
#include "broker/services/job-manager/jobtap/job_args.hpp"

#include <jansson.h>

#include <catch2/catch.hpp>

using namespace weir::broker::jobs;

namespace {

Job job_of(JobId id, std::int64_t priority) {
    Job job;
    job.id = id;
    job.priority = priority;
    job.userid = 1000;
    job.state = State::sched;
    return job;
}

json_int_t read(flux_plugin_arg_t* args, const char* key) {
    json_int_t value = -1;
    (void)flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I}", key, &value);
    return value;
}

MoreArgs nothing() {
    return [] { return static_cast<json_t*>(nullptr); };
}

}  // namespace

TEST_CASE("job arguments: the next call has the next job's values, and nothing of the one before") {
    JobArgs pool;
    const Job first = job_of(1, 10), second = job_of(2, 20);
    const flux_plugin_arg_t* same = nullptr;
    {
        const JobArgs::Lease args = pool.lease(first, nothing());
        same = args.get();
        CHECK(read(args.get(), "priority") == 10);
        REQUIRE(flux_plugin_arg_pack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "priority", 5) == 0);
    }
    const JobArgs::Lease args = pool.lease(second, nothing());
    CHECK(args.get() == same);
    CHECK(read(args.get(), "id") == 2);
    CHECK(read(args.get(), "priority") == 20);
    int out = 0;
    CHECK(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_OUT, "{s:i}", "priority", &out) == -1);
}

TEST_CASE("job arguments: a value that a plugin keeps stays as it was") {
    JobArgs pool;
    const Job first = job_of(1, 10), second = job_of(2, 20);
    json_t* kept = nullptr;
    {
        const JobArgs::Lease args = pool.lease(first, nothing());
        REQUIRE(flux_plugin_arg_unpack(args.get(), FLUX_PLUGIN_ARG_IN, "{s:O}", "priority", &kept) == 0);
    }
    {
        const JobArgs::Lease args = pool.lease(second, nothing());
        CHECK(read(args.get(), "priority") == 20);
    }
    CHECK(json_integer_value(kept) == 10);
    json_decref(kept);
}

TEST_CASE("job arguments: a call within a call has its own") {
    JobArgs pool;
    const Job first = job_of(1, 10), second = job_of(2, 20);
    const JobArgs::Lease outer = pool.lease(first, nothing());
    {
        const JobArgs::Lease inner = pool.lease(second, nothing());
        CHECK(read(inner.get(), "id") == 2);
        CHECK(read(outer.get(), "id") == 1);
    }
    CHECK(read(outer.get(), "id") == 1);
}

TEST_CASE("job arguments: what one call asked for is made anew for the next") {
    JobArgs pool;
    const Job job = job_of(1, 10);
    for (int call = 1; call <= 3; ++call) {
        const JobArgs::Lease args = pool.lease(job, [call] { return json_pack("{s:i}", "call", call); });
        CHECK(read(args.get(), "call") == call);
    }
    const PluginArgs kept = JobArgs::make(job, [] { return json_pack("{s:s}", "jobspec", "x"); });
    const char* jobspec = nullptr;
    REQUIRE(flux_plugin_arg_unpack(kept.get(), FLUX_PLUGIN_ARG_IN, "{s:s}", "jobspec", &jobspec) == 0);
    CHECK(std::string(jobspec) == "x");
}
