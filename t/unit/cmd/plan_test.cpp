// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/instance/plan.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

Plan sample_plan() {
    Plan plan;
    plan.rundir = "/r";
    plan.plugins = "/p";
    plan.share_tree = "/s/shares.toml";
    plan.users = {{"alice", 5001}};
    plan.nodes = 4;
    plan.cores_per_node = 8;
    plan.partitions = {{"debug", "sched-weir-fcfs", 1, 8}, {"batch", "sched-weir-easy", 3, 8}};
    plan.partitions[0].overflow = {"batch"};
    plan.default_queue = "batch";
    plan.scale = 100;
    plan.origin = 1e9;
    plan.weir = {{"half-life", "3600s"}};
    plan.weights = {{"wait", 10}};
    return plan;
}

}  // namespace

TEST_CASE("plan: the parent's configuration") {
    CHECK(parent_config(sample_plan(), {"debug", "batch"}) == R"(# Written by weir at each start; changes here are lost.
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority", "job-route"]

[job-manager]
inactive-num-limit = 10000
plugins = [
    { load = "/p/job-priority-tap.so" },
    { load = "/p/job-route-tap.so" },
]

[clock]
scale = 100.000
origin = 1000000000.000000

[[resource.config]]
hosts = "node[0-3]"
cores = "0-7"

[weir]
share-tree = "/s/shares.toml"
half-life = "3600s"

[weir.weights]
wait = 10

[weir.users]
"alice" = 5001

[queues."debug"]
[queues."batch"]
[queues.instances.policy.limits]
duration = "0"
job-size.max = { nnodes = -1, ncores = -1, ngpus = -1 }
job-size.min = { nnodes = -1, ncores = -1, ngpus = -1 }

[policy.jobspec.defaults.system]
queue = "batch"

[[partition]]
name = "debug"
scheduler = "sched-weir-fcfs"
overflow = ["batch"]
nodes = 1
cores-per-node = 8

[[partition]]
name = "batch"
scheduler = "sched-weir-easy"
nodes = 3
cores-per-node = 8
)");
}

TEST_CASE("plan: a single node has its bare name, real time no clock table") {
    Plan plan = sample_plan();
    plan.nodes = 1;
    plan.host = "here";
    plan.scale = 1;
    CHECK(parent_config(plan, {}).find("hosts = \"here\"") != std::string::npos);
    CHECK(parent_config(plan, {}).find("[clock]") == std::string::npos);
}

TEST_CASE("plan: strings are quoted as TOML wants") {
    CHECK(toml_string("a\"b\\c\n\x7f") == "\"a\\\"b\\\\c\\u000A\\u007F\"");
    CHECK(toml_string("ƒ") == "\"ƒ\"");
}
