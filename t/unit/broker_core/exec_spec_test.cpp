// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/exec_spec.hpp"

#include <catch2/catch.hpp>

#include "broker/services/exec_environment.hpp"
#include "libfairshare/base/marks.hpp"

using weir::filled_in;
using weir::Json;
using namespace weir::broker;

namespace {

const char* const R =
    R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],"nodelist":["n[0-1]"]}})";

weir::Result<ExecSpec> read_exec_spec(const std::string& resources, const std::string& task,
                                      const std::string& system) {
    const std::string text = R"({"version":1,"resources":[)" + resources + R"(],"tasks":[)" + task +
                             R"(],"attributes":{"system":{)" + system + "}}}";
    const Json jobspec = Json::parse_payload(text);
    REQUIRE(jobspec);
    return weir::broker::read_exec_spec(jobspec, Json::parse_payload(R));
}

const std::string SLOTS =
    R"({"type":"node","count":2,"with":[{"type":"slot","count":3,"with":[{"type":"core","count":1}]}]})";

}  // namespace

TEST_CASE("exec spec: tasks per slot times slots on all nodes") {
    const auto spec =
        read_exec_spec(SLOTS, R"({"command":["a","b"],"slot":"t","count":{"per_slot":2}})", R"("duration":0)");
    REQUIRE(spec);
    CHECK(spec->command == std::vector<std::string>{"a", "b"});
    CHECK(spec->task_count == 12);
    CHECK(spec->node_count == 2);
    CHECK(spec->duration == 0);
    CHECK_FALSE(spec->simulated);
    CHECK_FALSE(spec->environment);
}

TEST_CASE("exec spec: the name of the output in the instance above") {
    const char* tasks = R"({"command":["a"],"slot":"t","count":{"total":1}})";
    CHECK(read_exec_spec(SLOTS, tasks, R"("duration":0,"weir":{"output":"/o/f3"})")->output_above == "/o/f3");
    CHECK(read_exec_spec(SLOTS, tasks, R"("duration":0,"weir":{"output":3})")->output_above.empty());
}

TEST_CASE("exec spec: a total number of tasks stands as it is") {
    CHECK(read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":5}})", "")->task_count == 5);
}

TEST_CASE("exec spec: environment, directory, limit and output file are read") {
    const auto spec =
        read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":1}})",
                       R"("cwd":"/w","environment":{"A":"1","B":"2"},"duration":90.5,)"
                       R"("shell":{"options":{"output":{"stdout":{"type":"file","path":"out-{{id}}"}}}})");
    REQUIRE(spec);
    CHECK(spec->cwd == "/w");
    CHECK(*spec->environment == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}});
    CHECK(spec->duration == 90.5);
    CHECK(filled_in(spec->output, {{"id", "f9"}}) == "out-f9");
    CHECK(filled_in("{{tmpdir}}/a {{no}} {{tmpdir}}", {{"tmpdir", "/t"}}) == "/t/a {{no}} /t");
}

TEST_CASE("exec spec: simulated jobs need no command, their length is text or a number") {
    CHECK(read_exec_spec("", "{}", R"("exec":{"test":{"run_duration":"90s"}})")->simulated == 90.);
    CHECK(read_exec_spec("", "{}", R"("exec":{"test":{"run_duration":0}})")->simulated == 0.);
    const auto spec = read_exec_spec("", "{}", R"("duration":60,"exec":{"test":{"wait_status":256}})");
    CHECK(spec->simulated == 60.);
    CHECK(spec->simulated_status == 256);
}

TEST_CASE("exec spec: what is wrong is named by its key") {
    const auto why = [](const weir::Result<ExecSpec>& spec) { return spec.error().message; };
    CHECK(why(read_exec_spec(SLOTS, R"({"count":{"total":1}})", "")).find("tasks[0].command") != std::string::npos);
    CHECK(why(read_exec_spec(SLOTS, R"({"command":[1],"count":{"total":1}})", "")).find("tasks[0].command") !=
          std::string::npos);
    CHECK(why(read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":0}})", "")).find("tasks[0].count") !=
          std::string::npos);
    CHECK(why(read_exec_spec(SLOTS, R"({"command":["a"]})", R"("duration":"soon")")).find("duration") !=
          std::string::npos);
    CHECK(why(read_exec_spec("", "{}", R"("exec":{"test":{"run_duration":"x"}})")).find("run_duration") !=
          std::string::npos);
}

TEST_CASE("exec spec: limits of resources, and options that have no effect") {
    const char* tasks = R"({"command":["a"],"count":{"total":1}})";
    const auto options = [&](const std::string& text) {
        return read_exec_spec(SLOTS, tasks, R"("shell":{"options":{)" + text + "}}");
    };
    CHECK(options(R"("rlimit":{"nofile":100,"core":-1})")->limits == "7=100 4=-1 ");
    CHECK(options(R"("rlimit":{"nosuch":1})").error().message.find("rlimit.nosuch: must be") != std::string::npos);
    CHECK(options(R"("rlimit":{"core":"1"})").error().message.find("rlimit.core: must be") != std::string::npos);
    CHECK(options(R"("cpu-affinity":"off","mpi":"none")")->notes.empty());
    CHECK(options(R"("cpu-affinity":"per-task","output":{"limit":"1K"})")->notes ==
          "weir-broker: the shell option cpu-affinity has no effect here: tasks are not bound\n"
          "weir-broker: the shell option output.limit has no effect here: output has no limit\n");
}

TEST_CASE("exec spec: of an option that it does without, the job's stderr tells") {
    const auto notes = [](const std::string& text) {
        return read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":1}})",
                              R"("shell":{"options":{)" + text + "}}")
            ->notes;
    };
    CHECK(notes(R"("output":{"stdout":{"path":"f","label":true}})").find("output.stdout.label has no effect") !=
          std::string::npos);
    CHECK(notes(R"("output":{"stdout":{"label":true}})").empty());  // flux run labels what it shows
    CHECK(notes(R"("hwloc":{"xmlfile":1})").find("hwloc.xmlfile has no effect") != std::string::npos);
    CHECK(notes(R"("taskmap":{"scheme":"cyclic"})").find("taskmap has no effect") != std::string::npos);
    CHECK(notes(R"("taskmap":{"scheme":"block"})").empty());
}

TEST_CASE("exec spec: marks of the node in a job of one, not in a job of several") {
    const auto in = [](const std::string& r) {
        const Json jobspec = Json::parse_payload(
            R"({"resources":[],"tasks":[{"command":["a","{{node.name}}"],"count":{"total":1}}],"attributes":{}})");
        return weir::broker::read_exec_spec(jobspec, Json::parse_payload(r));
    };
    CHECK(in(R"({"execution":{"R_lite":[{"rank":"3","children":{"core":"0"}}],"nodelist":["n3"]}})")->node_name ==
          "n3");
    CHECK(in(R).error().message.find("{{node.name}} in jobs of several nodes") != std::string::npos);
}

TEST_CASE("exec spec: what becomes of a file that is there already") {
    const auto mode = [](const std::string& text) {
        return read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":1}})",
                              R"("shell":{"options":{"output":{)" + text + "}}}");
    };
    CHECK_FALSE(mode("")->is_appending);
    CHECK_FALSE(mode(R"("mode":"truncate")")->is_appending);
    CHECK(mode(R"("mode":"append")")->is_appending);
    CHECK(mode(R"("mode":"keep")").error().message.find("output.mode: must be truncate or append") !=
          std::string::npos);
}

TEST_CASE("exec spec: the gpus that tasks are told of") {
    const auto of = [](const std::string& r, const std::string& options) {
        const Json jobspec = Json::parse_payload(
            R"({"resources":[],"tasks":[{"command":["a"],"count":{"total":2}}],"attributes":{"system":{"shell":)"
            R"({"options":{)" +
            options + "}}}}}");
        return *weir::broker::read_exec_spec(jobspec, Json::parse_payload(r));
    };
    const std::string one = R"({"execution":{"R_lite":[{"rank":"3","children":{"core":"0","gpu":"1,3"}}]}})";
    const std::string two = R"({"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0","gpu":"1"}}]}})";
    CHECK(of(one, "").nodes.at(0).gpus.encode() == "1,3");
    CHECK(of(one, "").nodes.at(0).tasks == 2);
    CHECK_FALSE(of(one, "").is_gpu_per_task);
    CHECK(of(R"({"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]}})", "").nodes.at(0).gpus.empty());
    CHECK(of(one, R"("gpu-affinity":"off")").nodes.empty());
    CHECK(of(one, R"("gpu-affinity":"per-task")").is_gpu_per_task);
    CHECK(of(one, R"("gpu-affinity":"map:1;3")").notes.find("gpu-affinity has no effect") != std::string::npos);
    REQUIRE(of(two, "").nodes.size() == 2);
    CHECK(of(two, "").nodes[1].gpus.encode() == "1");
    CHECK(of(two, "").nodes[1].tasks == 1);
}

TEST_CASE("exec spec: the job's name, and marks of one task in a job of several") {
    const std::string one = R"({"command":["/bin/echo","{{taskid}}"],"count":{"total":1}})";
    const std::string two = R"({"command":["/bin/echo","{{task.id}}"],"count":{"total":2}})";
    CHECK(read_exec_spec(SLOTS, one, R"("duration":0)")->name == "echo");
    CHECK(read_exec_spec(SLOTS, one, R"("job":{"name":"mine"})")->name == "mine");
    CHECK(read_exec_spec(SLOTS, two, R"("duration":0)").error().message.find("{{task.id}}") != std::string::npos);
    const std::string output = R"("shell":{"options":{"output":{"stdout":{"type":"file","path":"o-{{taskid}}"}}}})";
    CHECK(read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":1}})", output));
    CHECK_FALSE(read_exec_spec(SLOTS, R"({"command":["a"],"count":{"total":2}})", output));
}
