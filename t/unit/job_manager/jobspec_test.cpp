// SPDX-License-Identifier: LGPL-3.0-only
// Jobspec V1: what is accepted, and that every refusal names the path.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/codecs/exec_eventlog.hpp"
#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/codecs/shell_options.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

std::string refusal(const std::string& path, const std::string& value) {
    Json spec = json(jobspec_text());
    if (!write_path(spec.get(), path, value == "null" ? Json::own(json_null()) : json(value))) {
        return "cannot write";
    }
    const auto valid = validate_jobspec(spec.get());
    return valid ? "accepted" : valid.error().message;
}

}  // namespace

TEST_CASE("jobspec: a plain V1 jobspec is accepted") {
    CHECK(validate_jobspec(json(jobspec_text()).get()));
}

TEST_CASE("jobspec: a refusal begins with the path of the bad key") {
    CHECK(refusal("version", "2").starts_with("jobspec: version: must be 1"));
    CHECK(refusal("colour", "1").starts_with("jobspec: colour: unknown key"));
    CHECK(refusal("attributes.system.duration", "-5").starts_with("jobspec: attributes.system.duration:"));
    CHECK(refusal("attributes.system.duration", "\"1h\"").starts_with("jobspec: attributes.system.duration:"));
    CHECK(refusal("attributes.system.queue", "7").starts_with("jobspec: attributes.system.queue:"));
    CHECK(refusal("attributes.extra", "{}").starts_with("jobspec: attributes.extra: unknown key"));
    CHECK(refusal("tasks", "[]").starts_with("jobspec: tasks:"));
    CHECK(refusal("tasks", R"([{"command":[],"slot":"task","count":{"per_slot":1}}])")
              .starts_with("jobspec: tasks[0].command:"));
    CHECK(refusal("tasks", R"([{"command":["a",1],"slot":"task","count":{"per_slot":1}}])")
              .starts_with("jobspec: tasks[0].command[1]:"));
    CHECK(refusal("resources", R"([{"type":"core","count":1}])").starts_with("jobspec: resources: no slot"));
    CHECK(refusal("resources", R"([{"type":"node","count":0,"with":[{"type":"slot","count":1,"label":"t"}]}])")
              .starts_with("jobspec: resources[0].count:"));
    CHECK(refusal("resources", R"([{"type":"slot","count":1,"label":"t","with":[{"type":"core","count":0}]}])")
              .starts_with("jobspec: resources[0].with[0].count:"));
    CHECK(refusal("attributes.system.constraints", R"({"and":[{"colour":["red"]}]})")
              .starts_with("jobspec: attributes.system.constraints.and[0].colour:"));
}

TEST_CASE("jobspec: a job is refused for a shell option that is left out, and for no other") {
    const auto refused = [](const std::string& options, const std::string& more = "") {
        const std::string text = jobspec_text(R"("duration":0,"shell":{"options":{)" + options + "}}" + more);
        const auto ok = check_shell_options(json(text).get());
        return ok ? std::string() : ok.error().message;
    };
    CHECK(refused(R"("pty":{"interactive":1})") ==
          "weir-broker does not have the shell option pty: jobs have no terminals; submit without it");
    CHECK(refused(R"("signal":{"signum":10,"timeleft":1})").find(" signal: ") != std::string::npos);
    CHECK(refused(R"("exit-timeout":"5s")").find(" exit-timeout: ") != std::string::npos);
    CHECK(refused(R"("exit-on-error":1)").find(" exit-on-error: ") != std::string::npos);
    CHECK(refused(R"("exit-on-error":0,"pty":false)").empty());
    CHECK(refused(R"("per-resource":{"type":"node"},"mpi":"none","exit-timeout":"none","rlimit":{"cpu":-1})").empty());
    CHECK(refused(R"("taskmap":{"scheme":"nosuch"})").find("taskmap nosuch is unknown") == 0);
    CHECK(refused(R"("taskmap":{"scheme":"cyclic","value":"2"})").empty());
    CHECK(refused(R"("pty":1)", R"(,"exec":{"test":{"run_duration":1}})").empty());
    CHECK(check_shell_options(json("{}").get()));
}

TEST_CASE("jobspec: facts count slots, cores and tasks") {
    const std::string text = jobspec_text(R"("duration":90,"bank":"bio")");
    const JobspecFacts facts = jobspec_facts(text);
    CHECK(jobspec_names(text).name == "hostname");
    CHECK(jobspec_names(text).bank == "bio");
    CHECK(facts.ncores == 6);
    CHECK(facts.ntasks == 2);
    CHECK(facts.nnodes == -1);
    CHECK(facts.duration == 90);
}

TEST_CASE("jobspec: nodes multiply slots; exclusive nodes leave cores to R") {
    const auto spec = [](const char* exclusive) {
        return json(std::string(R"({"version":1,"resources":[{"type":"node","count":2)") + exclusive +
                    R"(,"with":[{"type":"slot","count":4,"label":"t","with":[{"type":"core","count":2}]}]}],)"
                    R"("tasks":[{"command":["a"],"slot":"t","count":{"per_slot":1}}],)"
                    R"("attributes":{"system":{"duration":0}}})");
    };
    CHECK(jobspec_facts(spec("").dump()).ncores == 16);
    CHECK(jobspec_facts(spec("").dump()).nnodes == 2);
    CHECK(jobspec_facts(spec("").dump()).ntasks == 8);
    CHECK(jobspec_facts(spec(",\"exclusive\":true").dump()).ncores == -1);
}

TEST_CASE("jobspec: how many tasks run for each core of whole nodes, R tells") {
    const auto spec = [](const std::string& type) {
        return R"({"version":1,"resources":[{"type":"node","count":2,"exclusive":true,"with":[{"type":"slot","count":1,)"
               R"("label":"t","with":[{"type":"core","count":1}]}]}],"tasks":[{"command":["a"],"slot":"t","count":)"
               R"({"per_slot":1}}],"attributes":{"system":{"duration":0,"shell":{"options":{"per-resource":{"type":")" +
               type + R"(","count":2}}}}}})";
    };
    const std::string r = R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-7"}}],)"
                          R"("nodelist":["n[0-1]"]}})";
    EnvironmentPool pool;
    Job job;
    set_jobspec(job, pool, spec("core"));
    CHECK(task_count(job) == -1);
    job.r = allocation_of(json(r));
    CHECK(task_count(job) == 32);
    CHECK(task_ranks(job) == "0-31");
    set_jobspec(job, pool, spec("node"));
    CHECK(task_count(job) == 4);
}

TEST_CASE("jobspec: redaction takes the environment out, equal ones are kept once, full text has it again") {
    EnvironmentPool pool;
    Job first, second;
    const std::string text = jobspec_text(R"("duration":60,"environment":{"HOME":"/h","SECRET":"s"})");
    set_jobspec(first, pool, text);
    set_jobspec(second, pool, text);
    CHECK(first.jobspec_text.redacted.find("SECRET") == std::string::npos);
    CHECK(first.jobspec_text.environment == second.jobspec_text.environment);
    CHECK(pool.size() == 1);
    CHECK(json_equal(json(full_jobspec(first.jobspec_text)).get(), json(text).get()));
    first.jobspec_text = {};
    second.jobspec_text = {};
    CHECK(pool.size() == 0);
}
