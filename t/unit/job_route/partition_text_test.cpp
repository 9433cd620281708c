// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-route/partition_changes.hpp"
#include "modules/job-route/partition_json.hpp"
#include "modules/job-route/partition_launch.hpp"

using namespace weir;
using namespace weir::route;

namespace {

Json json_of(const char* text) {
    return Json::parse(text).value();
}

std::string complaint_about(const char* text) {
    const auto read = decode_partitions(json_of(text).get());
    return read ? "nothing" : read.error().message;
}

}  // namespace

TEST_CASE("partition text: overflow names other queues than its own, and changes in a running instance") {
    const auto decoded = [](const std::string& text) { return decode_partitions(Json::parse(text)->get()); };
    const auto specs = decoded(R"([{"name":"debug","cores":2,"overflow":["batch"]}])");
    REQUIRE(specs);
    CHECK(specs->at(0).overflow == std::vector<std::string>{"batch"});
    CHECK(specs->at(0).digest == decoded(R"([{"name":"debug","cores":2}])")->at(0).digest);
    const auto own = decoded(R"([{"name":"debug","cores":2,"overflow":["debug"]}])");
    REQUIRE_FALSE(own);
    CHECK(own.error().message.find("[partition debug] overflow = [\"debug\"]: the partition serves the queue debug") !=
          std::string::npos);
    CHECK_FALSE(decoded(R"([{"name":"debug","cores":2,"overflow":"batch"}])"));
}

TEST_CASE("[[partition]]: every key") {
    const auto specs = decode_partitions(json_of(R"([{"name": "gpu", "queues": ["batch", "gpu"], "nodes": 2,
        "cores-per-node": 8, "hosts": "node[0-3]", "properties": ["gpu"], "scheduler": "easy",
        "options": ["queue-depth=64"], "start": "on-demand", "idle-time": "10m", "config": {"weir": {"push": "order"}},
        "partition": [{"name": "a", "cores": 2}]}])")
                                             .get());
    REQUIRE(specs);
    const PartitionSpec& spec = specs->front();
    CHECK(spec.name == "gpu");
    CHECK(spec.queues == std::vector<std::string>{"batch", "gpu"});
    CHECK(spec.nodes == 2);
    CHECK(spec.cores == 8);
    CHECK(spec.hosts == "node[0-3]");
    CHECK(spec.properties == std::vector<std::string>{"gpu"});
    CHECK(spec.scheduler == "sched-weir-easy");
    CHECK(spec.options == std::vector<std::string>{"queue-depth=64"});
    CHECK(spec.is_on_demand);
    CHECK(spec.idle == std::chrono::minutes(10));
    CHECK(spec.config == R"({"weir":{"push":"order"}})");
    CHECK(decode_partitions(nullptr).value().empty());
}

TEST_CASE("[[partition]]: what is wrong is told with key, value and what would be right; all of it") {
    CHECK(complaint_about(R"([{"name": "a", "cores": "many"}])") ==
          "[partition a] cores = \"many\": must be a whole number from 1 to 16777216");
    CHECK(complaint_about(R"([{"name": "a", "cores": 1, "nodez": 1}])") ==
          "[partition a] nodez = 1: unknown key; did you mean \"nodes\"?");
    CHECK(complaint_about(R"([{"name": "a", "cores": 1, "idle-time": "10"}])").find("[partition a] idle-time") == 0);
    CHECK(complaint_about(R"([{"name": "a/b", "cores": 1}])").find("[partition a/b] name = \"a/b\": must be") == 0);
    CHECK(complaint_about(R"([{"cores": 1}])").find("[partition #1] name: must be") == 0);
    CHECK(complaint_about(R"([{"name": "a", "nodes": 1}])").find("needs cores-per-node") != std::string::npos);
    CHECK(complaint_about(R"([{"name": "a"}])").find("give either cores = N") != std::string::npos);
    CHECK(complaint_about(R"([{"name": "a", "cores": 1}, {"name": "a", "cores": 1}])")
              .find("another partition has this name") != std::string::npos);
    CHECK(complaint_about(R"([{"name": "a", "cores": 4, "partition": [{"name": "b", "cores": 0}]}])")
              .find("[partition a.partition b] cores = 0: must be") == 0);
    const std::string both = complaint_about(R"([{"name": "a", "cores": 0, "start": "soon"}])");
    CHECK(both.find("cores = 0") != std::string::npos);
    CHECK(both.find("\n[partition a] start = \"soon\": must be \"at-once\" or \"on-demand\"") != std::string::npos);
    CHECK(complaint_about("{}").find("write a table [[partition]]") != std::string::npos);
}

TEST_CASE("[[partition]]: takes") {
    const auto users = Json::parse(R"({"alice": 5001})");
    const auto specs = decode_partitions(json_of(R"([{"name": "a", "cores": 4}, {"name": "b", "cores": 8, "takes": {
        "duration-min": "10m", "duration-max": "1h", "cores-min": 2, "nodes-max": 1, "accounts": ["bio"],
        "users": ["alice", "5009"], "qos": ["high"], "properties": ["gpu"]}}])")
                                             .get(),
                                         users->get());
    REQUIRE(specs);
    CHECK(rules_text(specs->at(0).takes).empty());
    CHECK(specs->at(1).place == 1);
    const PartitionRules& rules = specs->at(1).takes;
    CHECK(rules.userids == std::set<std::uint32_t>{5001, 5009});
    CHECK(rules_text(rules) ==
          "10m to 1h, at least 2 cores, at most 1 node, account bio, user alice or 5009, QoS high, property gpu");
}

TEST_CASE("[[partition]]: the memory of its nodes is a rule, and a change of it wants a new instance") {
    const auto decoded = [](const char* text) { return decode_partitions(json_of(text).get()).value().at(0); };
    const PartitionSpec plain = decoded(R"([{"name": "a", "nodes": 2, "cores-per-node": 4}])");
    const PartitionSpec spec = decoded(R"([{"name": "a", "nodes": 2, "cores-per-node": 4, "memory-per-node": "8GiB",
        "takes": {"cores-max": 4}}])");
    CHECK(plain.takes.memory == PartitionMemory{0, 1});
    CHECK(spec.takes.memory == PartitionMemory{8192, 2});
    CHECK(rules_text(spec.takes) == "at most 4 cores, at most 8GiB of memory on each of 2 nodes");
    CHECK(plain.digest != spec.digest);
    for (const char* wrong : {"8", "\"8\"", "\"8GB\"", "\"0GiB\"", "\"\""}) {
        CHECK(complaint_about(
                  (std::string(R"([{"name": "a", "cores": 4, "memory-per-node": )") + wrong + "}]").c_str()) ==
              std::string("[partition a] memory-per-node = ") + wrong +
                  ": must be an amount of memory with its unit, as \"64GiB\"");
    }
}

TEST_CASE("[[partition]]: mistakes in takes") {
    const auto about = [](const std::string& takes) {
        return complaint_about((R"([{"name": "a", "cores": 4, "takes": )" + takes + "}]").c_str());
    };
    CHECK(about("3") == "[partition a] takes = 3: must be a table, as { duration-max = \"1h\" }");
    CHECK(about(R"({"duration-mxa": "1h"})") ==
          "[partition a.takes] duration-mxa = \"1h\": unknown key; did you mean \"duration-max\"?");
    CHECK(about(R"({"duration-max": "60"})").find("[partition a.takes] duration-max = \"60\": must be a duration") ==
          0);
    CHECK(about(R"({"duration-min": "2h", "duration-max": "1h"})") ==
          "[partition a.takes] duration-max = \"1h\": must not be less than duration-min");
    CHECK(about(R"({"cores-min": 3, "cores-max": 2})") ==
          "[partition a.takes] cores-max = 2: must not be less than cores-min");
    CHECK(about(R"({"cores-min": 5})") ==
          "[partition a.takes] cores-min = 5: must be at most 4, the cores of the partition");
    CHECK(about(R"({"accounts": []})").find("accounts = []: must be a list of names, as [\"physics\"") !=
          std::string::npos);
    CHECK(about(R"({"users": ["nobody-has-this-name"]})").find("there is no user nobody-has-this-name") !=
          std::string::npos);
}

TEST_CASE("[[partition]]: limits; no job larger than one is taken") {
    const auto specs = decode_partitions(json_of(R"([{"name": "a", "cores": 8, "limits": {"running-jobs-max": 3,
        "cores-max": 6, "user-running-jobs-max": 2, "user-cores-max": 4}},
        {"name": "b", "cores": 8, "takes": {"cores-max": 2}, "limits": {"cores-max": 4}}])")
                                             .get());
    REQUIRE(specs);
    CHECK(specs->at(0).limits == PartitionLimits{3, 6, 2, 4});
    CHECK(specs->at(0).takes.cores.most == 4);
    CHECK(specs->at(1).limits == PartitionLimits{{}, 4, {}, {}});
    CHECK(specs->at(1).takes.cores.most == 2);
}

TEST_CASE("[[partition]]: mistakes in limits") {
    const auto about = [](const std::string& limits) {
        return complaint_about(
            (R"([{"name": "a", "cores": 4, "takes": {"cores-min": 2}, "limits": )" + limits + "}]").c_str());
    };
    CHECK(about("3") == "[partition a] limits = 3: must be a table, as { running-jobs-max = 10 }");
    CHECK(about(R"({"runing-jobs-max": 1})") ==
          "[partition a.limits] runing-jobs-max = 1: unknown key; did you mean \"running-jobs-max\"?");
    CHECK(about(R"({"foo": 1})") ==
          "[partition a.limits] foo = 1: unknown key; the keys are running-jobs-max, cores-max, user-running-jobs-max, "
          "user-cores-max");
    CHECK(about(R"({"running-jobs-max": 0})") ==
          "[partition a.limits] running-jobs-max = 0: must be a whole number from 1 to 16777216");
    CHECK(about(R"({"user-cores-max": 1})") ==
          "[partition a.limits] user-cores-max = 1: must be at least 2, the cores-min of takes");
}

TEST_CASE("[[partition]]: what may change in a running instance is not in the digest") {
    const auto digest = [](const char* text) { return decode_partitions(json_of(text).get()).value().front().digest; };
    const std::string one = digest(R"([{"name": "a", "cores": 4}])");
    CHECK(one == digest(R"([{"cores": 4, "name": "a", "start": "on-demand", "idle-time": "1h"}])"));
    CHECK(one == digest(R"([{"name": "a", "cores": 4, "takes": {"duration-max": "1h"}}])"));
    CHECK(one == digest(R"([{"name": "a", "cores": 4, "limits": {"running-jobs-max": 1}}])"));
    CHECK(one != digest(R"([{"name": "a", "cores": 5}])"));
}

TEST_CASE("changes of partitions hold until the configuration says something else") {
    const Json configured = json_of(R"([{"name": "a", "cores": 4}, {"name": "b", "cores": 1}])");
    PartitionChanges changes;
    CHECK(json_equal(changes.applied_to(configured.get()).get(), configured.get()));
    changes.set(configured.get(), "a", json_of(R"({"name": "a", "cores": 6})"));
    changes.set(configured.get(), "b", Json());
    changes.set(configured.get(), "c", json_of(R"({"name": "c", "cores": 2})"));
    changes.set_drained(configured.get(), "c", true);
    auto again = PartitionChanges::parse(changes.text()).value();
    CHECK(again.applied_to(configured.get()).dump() == R"([{"name":"a","cores":6},{"name":"c","cores":2}])");
    CHECK(again.is_drained("c"));
    CHECK(!again.is_drained("a"));
    const Json edited = json_of(R"([{"name": "a", "cores": 5}, {"name": "b", "cores": 1}])");
    CHECK(again.applied_to(edited.get()).dump() == R"([{"name":"a","cores":5},{"name":"c","cores":2}])");
    CHECK(again.applied_to(configured.get()).dump() == R"([{"name":"a","cores":6},{"name":"c","cores":2}])");
    CHECK(again.forget_stale(edited.get()) == std::vector<std::string>{"a"});
    CHECK(again.forget_stale(edited.get()).empty());
    again.set(edited.get(), "c", Json());
    CHECK(again.applied_to(edited.get()).dump() == R"([{"name":"a","cores":5}])");
    CHECK(!PartitionChanges::parse("nonsense"));
}

TEST_CASE("changes of partitions: the folder of the latest instance is kept, whatever else is forgotten") {
    PartitionChanges changes;
    CHECK(changes.folder_of("a") == 0);
    CHECK(changes.set_folder("a", 2));
    CHECK(!changes.set_folder("a", 2));
    changes.forget_tables();
    auto again = PartitionChanges::parse(changes.text()).value();
    CHECK(again.folder_of("a") == 2);
    CHECK(again.set_folder("a", 0));
    CHECK(again.folder_of("a") == 0);
    CHECK(PartitionChanges::parse(R"({"changes": {}})")->folder_of("a") == 0);  // of an earlier version
    CHECK(PartitionChanges::parse(R"({"changes": {}, "folders": {"a": -7}})")->folder_of("a") == 0);
}

// Mutant: modules/job-route/partition_changes.cpp: json_object_del(change.get(), "drained"); => ;
TEST_CASE("changes of partitions: one that was removed and is added again is not drained") {
    const Json configured = json_of(R"([{"name": "a", "cores": 4}])");
    PartitionChanges changes;
    for (const char* name : {"a", "c"}) {
        const std::string table = R"({"name": ")" + std::string(name) + R"(", "cores": 2})";
        changes.set(configured.get(), name, json_of(table.c_str()));
        changes.set_drained(configured.get(), name, true);
        CHECK(changes.is_drained(name));
        changes.set(configured.get(), name, Json());
        changes.set(configured.get(), name, json_of(table.c_str()));
        CHECK(!changes.is_drained(name));
    }
}

TEST_CASE("changes of partitions: without their tables the drained ones of the configuration stay so") {
    const Json configured = json_of(R"([{"name": "a", "cores": 4}, {"name": "b", "cores": 1}])");
    PartitionChanges changes;
    changes.set(configured.get(), "a", json_of(R"({"name": "a", "cores": 6})"));
    changes.set_drained(configured.get(), "a", true);
    changes.set(configured.get(), "b", Json());
    changes.set(configured.get(), "c", json_of(R"({"name": "c", "cores": 2})"));
    changes.set_drained(configured.get(), "c", true);
    changes.forget_tables();
    CHECK(json_equal(changes.applied_to(configured.get()).get(), configured.get()));
    CHECK(changes.is_drained("a"));
    CHECK(!changes.is_drained("c"));
    CHECK(changes.forget_stale(configured.get()).empty());
}

TEST_CASE("a partition's jobspec: its size, where it may be, what it serves and reads") {
    auto specs = decode_partitions(json_of(R"([{"name": "gpu", "queues": ["q"], "nodes": 2, "cores-per-node": 8,
        "memory-per-node": "64GiB", "hosts": "node[0-3]", "properties": ["gpu"], "scheduler": "fcfs", "options": ["a=b"],
        "config": {"weir": {"parent-factors": false}}, "partition": [{"name": "in", "cores": 2}]}])")
                                       .get())
                     .value();
    LaunchPlace place;
    place.broker = "/bin/weir-broker";
    place.rundir = "/run/weir";
    place.statedir = "/state";
    place.log_folder = "/log";
    place.config_files = {"/etc/weir.toml"};
    place.has_instance_queue = true;
    const Json spec = json_of(partition_jobspec(specs.front(), place, 1).c_str());
    CHECK(
        spec.at("resources").dump() ==
        R"([{"type":"node","count":2,"with":[{"type":"slot","count":1,"label":"task","with":[{"type":"core","count":8}]}]}])");
    CHECK(json_array_size(read_path(spec.get(), "tasks")) == 1);
    const Json command = Json::ref(json_object_get(json_array_get(read_path(spec.get(), "tasks"), 0), "command"));
    CHECK(command.dump() ==
          R"(["/bin/weir-broker","--inherit","/etc/weir.toml","-c","{{tmpdir}}/partition.json","--rundir",)"
          R"("/run/weir/gpu.2","-S","log-filename=/log/gpu.2.log","-S","statedir=/state/gpu.2"])");
    const json_t* system = read_path(spec.get(), "attributes.system");
    CHECK(Json::ref(json_object_get(system, "constraints")).dump() ==
          R"({"and":[{"hostlist":["node[0-3]"]},{"properties":["gpu"]}]})");
    CHECK(read_string(system, "queue") == "instances");
    CHECK(read_string(read_path(system, "weir"), "memory_per_slot") == "64GiB");
    CHECK(Json::ref(read_path(system, "weir.serves")).dump() == R"(["q"])");
    CHECK(read_integer(read_path(system, "weir.partition"), "folder") == 1);
    const Json config = json_of(partition_config(specs.front(), place).c_str());
    CHECK(read_boolean(read_path(config.get(), "weir"), "parent-factors") == false);
    CHECK(Json::ref(read_path(config.get(), "weir.route.serves")).dump() == R"(["q"])");
    CHECK(Json::ref(read_path(config.get(), "queues")).dump() == R"({"in":{},"instances":{}})");
    CHECK(config.at("partition").dump() == R"([{"name":"in","cores":2}])");
    CHECK(Json::ref(json_array_get(read_path(config.get(), "weir-broker.modules"), 4)).dump() ==
          R"({"name":"sched-weir-fcfs","args":["a=b"]})");
    place.broker.clear();
    const Json stock = json_of(partition_config(specs.front(), place).c_str());
    CHECK(Json::ref(read_path(stock.get(), "modules")).dump() ==
          R"({"alternatives":{"sched":"sched-weir-fcfs"},"sched-weir-fcfs":{"args":["a=b"]}})");
    CHECK(!stock.at("weir-broker"));
}
