// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_launch.hpp.
#include "modules/job-route/partition_launch.hpp"

#include "libfairshare/base/json/merge.hpp"
#include "libfairshare/base/memory_size.hpp"
#include "modules/job-route/partition_json.hpp"

namespace weir::route {
namespace {

constexpr const char* config_file = "partition.json";
constexpr int file_mode = 0100600;

template <typename Names>
Json name_list(const Names& names) {
    Json list = Json::array();
    for (const auto& name : names) {
        list.append(Json::string(name));
    }
    return list;
}

void add_embedded(Json& config, const PartitionSpec& spec, const LaunchPlace& place) {
    Json modules = name_list(std::vector<std::string>{"kvs", "resource", "job-manager", "job-exec"});
    Json scheduler = Json::object();
    scheduler.set("name", partition_scheduler(spec, place));
    scheduler.set("args", name_list(spec.options));
    modules.append(std::move(scheduler)).append("job-priority").append("job-route");
    Json broker = Json::object();
    broker.set("modules", std::move(modules));
    config.set("weir-broker", std::move(broker));
    config.set("job-manager", place.job_manager ? place.job_manager.deep_copy() : Json());
}

void add_stock(Json& config, const PartitionSpec& spec) {
    if (!spec.scheduler.empty()) {
        Json alternatives = Json::object(), scheduler = Json::object(), modules = Json::object();
        alternatives.set("sched", spec.scheduler);
        scheduler.set("args", name_list(spec.options));
        modules.set("alternatives", std::move(alternatives)).set(spec.scheduler.c_str(), std::move(scheduler));
        config.set("modules", std::move(modules));
    }
}

Json command_of(const LaunchPlace& place, const PartitionPaths& paths) {
    const std::string config = std::string("{{tmpdir}}/") + config_file;
    Json words = Json::array();
    if (place.broker.empty()) {
        words.append("flux").append("broker").append("-c" + config).append("-Sbroker.rc2_none=1");
    } else {
        words.append(place.broker);
        for (const std::string& file : place.config_files) {
            words.append("--inherit").append(file);
        }
        words.append("-c").append(config).append("--rundir").append(paths.rundir);
        if (!paths.log.empty()) {
            words.append("-S").append("log-filename=" + paths.log);
        }
    }
    if (!paths.statedir.empty()) {
        words.append("-S").append("statedir=" + paths.statedir);
    }
    return words;
}

Json resource_of(const char* type, std::int64_t count) {
    Json resource = Json::object();
    resource.set("type", type).set("count", count);
    return resource;
}

Json alone(Json element) {
    Json list = Json::array();
    list.append(std::move(element));
    return list;
}

Json resources_of(const PartitionSpec& spec) {
    Json slot = resource_of("slot", 1);
    slot.set("label", "task").set("with", alone(resource_of("core", spec.cores)));
    if (spec.nodes == 0) {
        return alone(std::move(slot));
    }
    Json node = resource_of("node", spec.nodes);
    return alone(std::move(node.set("with", alone(std::move(slot)))));
}

/// RFC 31.
Json constraints_of(const PartitionSpec& spec) {
    Json all = Json::array();
    if (!spec.hosts.empty()) {
        Json hosts = Json::object();
        all.append(std::move(hosts.set("hostlist", name_list(std::vector<std::string>{spec.hosts}))));
    }
    if (!spec.properties.empty()) {
        Json properties = Json::object();
        all.append(std::move(properties.set("properties", name_list(spec.properties))));
    }
    if (json_array_size(all.get()) == 0) {
        return {};
    }
    Json constraints = Json::object();
    return std::move(constraints.set("and", std::move(all)));
}

Json system_of(const PartitionSpec& spec, const LaunchPlace& place, int folder) {
    Json file = Json::object(), files = Json::object(), job = Json::object(), weir = Json::object();
    file.set("mode", file_mode).set("encoding", "utf-8").set("data", partition_config(spec, place));
    files.set(config_file, std::move(file));
    job.set("name", spec.name);
    Json partition = Json::object();
    partition.set("name", spec.name).set("folder", folder).set("digest", spec.digest);
    weir.set("serves", name_list(spec.queues)).set("partition", std::move(partition));
    if (spec.memory_per_node_mib > 0) {
        weir.set("memory_per_slot", encode_mib(spec.memory_per_node_mib));  // it has one slot on each node
    }
    Json environment = Json::object();
    for (const auto& [name, value] : place.environment) {
        environment.set(name.c_str(), value);
    }
    Json system = Json::object();
    system.set("duration", 0).set("cwd", place.rundir.empty() ? std::string("/") : place.rundir);
    if (place.has_instance_queue) {
        system.set("queue", instance_queue);
    }
    system.set("job", std::move(job)).set("weir", std::move(weir)).set("files", std::move(files));
    return std::move(system.set("environment", std::move(environment)).set("constraints", constraints_of(spec)));
}

}  // namespace

std::string partition_scheduler(const PartitionSpec& spec, const LaunchPlace& place) {
    return !spec.scheduler.empty() || place.broker.empty() ? spec.scheduler : "sched-weir-easy";
}

PartitionPaths partition_paths(const PartitionSpec& spec, const LaunchPlace& place, int folder) {
    const std::string name = "/" + spec.name + (folder == 0 ? "" : "." + std::to_string(folder + 1));
    PartitionPaths paths;
    paths.rundir = place.rundir.empty() ? "" : place.rundir + name;
    paths.statedir = place.statedir.empty() ? "" : place.statedir + name;
    paths.log = place.log_folder.empty() ? "" : place.log_folder + name + ".log";
    return paths;
}

std::string partition_config(const PartitionSpec& spec, const LaunchPlace& place) {
    Json config = Json::object();
    if (place.broker.empty()) {
        add_stock(config, spec);
    } else {
        add_embedded(config, spec, place);
    }
    Json route = Json::object(), weir = Json::object();
    config.set("weir", std::move(weir.set("route", std::move(route.set("serves", name_list(spec.queues))))));
    if (!spec.partitions.empty()) {
        const Json below = Json::parse(spec.partitions).value();
        Json queues = Json::object();
        for (const std::string& queue : partition_queues(below.get())) {
            queues.set(queue.c_str(), Json::object());
        }
        config.set("queues", std::move(queues.set(instance_queue, Json::object())));
        config.set("partition", below.share());
    }
    if (!spec.config.empty()) {
        merge_tables(config.get(), Json::parse(spec.config).value().get());
    }
    return config.dump();
}

std::string partition_jobspec(const PartitionSpec& spec, const LaunchPlace& place, int folder) {
    Json task = Json::object(), count = Json::object(), attributes = Json::object(), jobspec = Json::object();
    // The embedded broker is one process on any number of nodes; Flux needs one broker on each node.
    count.set(place.broker.empty() ? "per_slot" : "total", 1);
    task.set("command", command_of(place, partition_paths(spec, place, folder)));
    task.set("slot", "task").set("count", std::move(count));
    attributes.set("system", system_of(spec, place, folder));
    jobspec.set("version", 1).set("resources", resources_of(spec)).set("tasks", alone(std::move(task)));
    return jobspec.set("attributes", std::move(attributes)).dump();
}

}  // namespace weir::route
