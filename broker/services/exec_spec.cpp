// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading of jobspecs for execution. Must not know processes or messages.
#include "broker/services/exec_spec.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "libfairshare/base/fsd.hpp"

namespace weir::broker {
namespace {

constexpr std::uint64_t tasks_max = 1u << 20;

Error bad_jobspec(const std::string& key, const std::string& right) {
    return {std::errc::invalid_argument, "jobspec " + key + ": " + right};
}

/// A count is a number or, of a range, its least value.
std::uint64_t count_of(const Json& count) {
    const json_t* value = json_is_object(count.get()) ? json_object_get(count.get(), "min") : count.get();
    const json_int_t number = json_integer_value(value);
    return number > 0 ? static_cast<std::uint64_t>(number) : 1;
}

/// The slots below a list of resources: the product of the counts on the way down to "slot".
std::uint64_t slots_in(const Json& resources, std::uint64_t above) {
    std::uint64_t slots = 0;
    std::size_t i = 0;
    json_t* value = nullptr;
    json_array_foreach(resources.get(), i, value) {
        const Json resource = Json::ref(value);
        const std::uint64_t count = above * count_of(resource.at("count"));
        if (count > tasks_max) {
            return count;
        }
        slots += resource.string_at("type") == "slot" ? count : slots_in(resource.at("with"), count);
    }
    return slots;
}

Status read_command(const Json& task, ExecSpec& out) {
    const Json command = task.at("command");
    if (const char* line = json_string_value(command.get())) {
        out.command = {"/bin/sh", "-c", line};
        return Done{};
    }
    std::size_t i = 0;
    json_t* word = nullptr;
    json_array_foreach(command.get(), i, word) {
        if (!json_is_string(word)) {
            return bad_jobspec("tasks[0].command", "must be a list of strings");
        }
        out.command.emplace_back(json_string_value(word));
    }
    return out.command.empty() ? Status(bad_jobspec("tasks[0].command", "is missing or empty")) : Status(Done{});
}

Status read_counts(const Json& jobspec, const Json& task, const Json& r, ExecSpec& out) {
    std::uint32_t nodes = 0;
    std::size_t cores = 0;
    std::size_t i = 0;
    json_t* entry = nullptr;
    json_array_foreach(r.at("execution").at("R_lite").get(), i, entry) {
        const Json group = Json::ref(entry);
        const auto ranks = IdSet::parse(group.string_at("rank").value_or(""));
        const auto ids = IdSet::parse(group.at("children").string_at("core").value_or(""));
        nodes += ranks ? static_cast<std::uint32_t>(ranks->count()) : 0;
        cores += ranks && ids ? ranks->count() * ids->count() : 0;
    }
    out.node_count = nodes > 0 ? nodes : 1;
    const Json hosts = r.at("execution").at("nodelist");
    const char* host = json_string_value(json_array_get(hosts.get(), 0));
    out.node_name = out.node_count == 1 && host != nullptr ? host : "";
    const Json count = task.at("count");
    const Json per_resource = jobspec.at("attributes").at("system").at("shell").at("options").at("per-resource");
    const std::string per = per_resource.string_at("type").value_or("");
    std::uint64_t tasks = 1;
    if (per == "node" || per == "core") {
        const json_int_t each = per_resource.integer_at("count").value_or(1);
        const std::uint64_t of = per == "node" ? out.node_count : cores;
        tasks = each < 1 || each > static_cast<json_int_t>(tasks_max) ? 0 : of * static_cast<std::uint64_t>(each);
    } else if (const auto total = count.integer_at("total")) {
        tasks = static_cast<std::uint64_t>(*total);
    } else if (const auto per_slot = count.integer_at("per_slot")) {
        tasks = slots_in(jobspec.at("resources"), 1) * static_cast<std::uint64_t>(*per_slot);
    }
    if (tasks < 1 || tasks > tasks_max) {
        return bad_jobspec("tasks[0].count", "must give 1 to 1048576 tasks");
    }
    out.task_count = static_cast<std::uint32_t>(tasks);
    return Done{};
}

void note(const std::string& option, const char* why, ExecSpec& out) {
    out.notes += "weir-broker: the shell option " + option + " has no effect here: " + why + "\n";
}

std::vector<NodeShare> read_nodes(const Json& r) {
    std::vector<NodeShare> nodes;
    std::size_t i = 0;
    json_t* entry = nullptr;
    json_array_foreach(r.at("execution").at("R_lite").get(), i, entry) {
        const Json group = Json::ref(entry);
        const auto ranks = IdSet::parse(group.string_at("rank").value_or(""));
        const auto cores = IdSet::parse(group.at("children").string_at("core").value_or(""));
        const auto gpus = IdSet::parse(group.at("children").string_at("gpu").value_or(""));
        if (ranks) {
            nodes.resize(nodes.size() + ranks->count(),
                         NodeShare{cores ? cores->count() : 0, gpus ? *gpus : IdSet{}, 0});
        }
    }
    return nodes;
}

/// A job without gpus is told so, as in flux-core: else it would use those of others.
void read_gpus(const Json& options, const Json& r, ExecSpec& out) {
    const Json option = options.at("gpu-affinity");
    const std::string how = option ? options.string_at("gpu-affinity").value_or("") : "on";
    if (how == "off") {
        return;
    }
    out.nodes = read_nodes(r);
    out.nodes.resize(std::max<std::size_t>(out.nodes.size(), 1));
    place_tasks(out.nodes, out.task_count);
    out.is_gpu_per_task = how == "per-task";
    if (how != "on" && how != "per-task") {
        note("gpu-affinity", "it is on, off or per-task; the tasks are told of all gpus of the job", out);
    }
}

std::optional<double> read_duration(const Json& value) {
    if (json_is_number(value.get())) {
        const double seconds = json_number_value(value.get());
        return std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
    }
    const auto seconds = parse_fsd_seconds(json_is_string(value.get()) ? json_string_value(value.get()) : "");
    return seconds ? std::optional(*seconds) : std::nullopt;
}

constexpr std::pair<std::string_view, int> limits_known[] = {{"cpu", RLIMIT_CPU},
                                                             {"fsize", RLIMIT_FSIZE},
                                                             {"data", RLIMIT_DATA},
                                                             {"stack", RLIMIT_STACK},
                                                             {"core", RLIMIT_CORE},
                                                             {"nofile", RLIMIT_NOFILE},
                                                             {"as", RLIMIT_AS},
                                                             {"rss", RLIMIT_RSS},
                                                             {"nproc", RLIMIT_NPROC},
                                                             {"nice", RLIMIT_NICE},
                                                             {"rtprio", RLIMIT_RTPRIO},
                                                             {"rttime", RLIMIT_RTTIME},
                                                             {"memlock", RLIMIT_MEMLOCK},
                                                             {"locks", RLIMIT_LOCKS},
                                                             {"msgqueue", RLIMIT_MSGQUEUE},
                                                             {"sigpending", RLIMIT_SIGPENDING}};

/// Stock clients send their own limits with each job.
Status read_limits(const Json& limits, ExecSpec& out) {
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(limits.get(), name, value) {
        const auto* known = std::find_if(std::begin(limits_known), std::end(limits_known),
                                         [name](const auto& entry) { return entry.first == name; });
        if (known == std::end(limits_known) || !json_is_integer(value)) {
            return bad_jobspec("attributes.system.shell.options.rlimit." + std::string(name),
                               "must be an integer and the name of a limit of setrlimit(2)");
        }
        out.limits += std::to_string(known->second) + "=" + std::to_string(json_integer_value(value)) + " ";
    }
    return Done{};
}

/// Options that a job can do without; it is refused for others (job-manager).
void note_options(const Json& options, ExecSpec& out) {
    if (options.at("cpu-affinity") && options.string_at("cpu-affinity") != "off") {
        note("cpu-affinity", "tasks are not bound", out);
    }
    if (options.at("output").at("limit")) {
        note("output.limit", "output has no limit", out);
    }
    for (const char* stream : {"stdout", "stderr"}) {
        const Json file = options.at("output").at(stream);
        if (file.at("path") && file.boolean_at("label").value_or(false)) {
            note(std::string("output.") + stream + ".label", "the lines of a file have no labels", out);
        }
    }
    if (options.at("hwloc").at("xmlfile")) {
        note("hwloc.xmlfile", "no file with the topology is written", out);
    }
    if (const auto scheme = options.at("taskmap").string_at("scheme"); scheme && *scheme != "block") {
        note("taskmap", "all tasks run on this machine, in the order of their ranks", out);
    }
}

Status read_system(const Json& system, ExecSpec& out) {
    out.name = system.at("job").string_at("name").value_or("");
    out.cwd = system.string_at("cwd").value_or("");
    const Json options = system.at("shell").at("options");
    out.output = options.at("output").at("stdout").string_at("path").value_or("");
    out.error = options.at("output").at("stderr").string_at("path").value_or("");
    const auto mode = options.at("output").string_at("mode");
    if (mode && *mode != "truncate" && *mode != "append") {
        return bad_jobspec("attributes.system.shell.options.output.mode", "must be truncate or append");
    }
    out.is_appending = mode == "append";
    out.output_above = system.at("weir").string_at("output").value_or("");
    out.input = options.at("input").at("stdin").string_at("path").value_or("");
    if (auto limits = read_limits(options.at("rlimit"), out); !limits) {
        return limits;
    }
    note_options(options, out);
    if (const Json files = system.at("files")) {
        out.files = files.share();
    }
    if (const Json environment = system.at("environment"); json_is_object(environment.get())) {
        out.environment.emplace();
        const char* name = nullptr;
        json_t* value = nullptr;
        json_object_foreach(environment.get(), name, value) {
            if (json_is_string(value)) {
                (*out.environment)[name] = json_string_value(value);
            }
        }
    }
    if (const Json duration = system.at("duration")) {
        const auto seconds = read_duration(duration);
        if (!seconds) {
            return bad_jobspec("attributes.system.duration", "must be seconds, 0 or more");
        }
        out.duration = std::isfinite(*seconds) ? *seconds : 0;
    }
    if (const Json test = system.at("exec").at("test"); json_is_object(test.get())) {
        const Json run = test.at("run_duration");
        const auto seconds = run ? read_duration(run) : std::optional(out.duration);
        if (!seconds) {
            return bad_jobspec("attributes.system.exec.test.run_duration",
                               "must be a duration such as 90s, or seconds");
        }
        out.simulated = *seconds;
        out.simulated_status = static_cast<int>(test.integer_at("wait_status").value_or(0));
    }
    return Done{};
}

constexpr const char* why_no_task_marks =
    " in jobs of several tasks: they have one output and the same command; the variable FLUX_TASK_RANK is each task's "
    "own";
constexpr const char* why_no_node_marks = " in jobs of several nodes: all their tasks run on this machine";

/// \param names  of one thing, of which the job has several
Status check_marks(const ExecSpec& spec, std::span<const char* const> names, const std::string& why) {
    std::vector<std::string> texts = spec.command;
    texts.insert(texts.end(), {spec.output, spec.error, spec.input});
    for (const char* name : names) {
        const std::string mark = "{{" + std::string(name) + "}}";
        if (std::any_of(texts.begin(), texts.end(),
                        [&mark](const std::string& text) { return text.find(mark) != std::string::npos; })) {
            return Error{std::errc::not_supported, "weir-broker does not have " + mark + why};
        }
    }
    return Done{};
}

}  // namespace

Result<ExecSpec> read_exec_spec(const Json& jobspec, const Json& r) {
    ExecSpec out;
    if (auto ok = read_system(jobspec.at("attributes").at("system"), out); !ok) {
        return ok.error();
    }
    if (out.simulated) {  // a simulated run needs no more
        return out;
    }
    const Json task = Json::ref(json_array_get(jobspec.at("tasks").get(), 0));
    if (auto ok = read_command(task, out); !ok) {
        return ok.error();
    }
    if (auto ok = read_counts(jobspec, task, r, out); !ok) {
        return ok.error();
    }
    read_gpus(jobspec.at("attributes").at("system").at("shell").at("options"), r, out);
    if (auto ok = out.task_count > 1 ? check_marks(out, task_marks, why_no_task_marks) : Status(Done{}); !ok) {
        return ok.error();
    }
    if (auto ok = out.node_count > 1 ? check_marks(out, node_marks, why_no_node_marks) : Status(Done{}); !ok) {
        return ok.error();
    }
    if (out.name.empty()) {
        out.name = out.command[0].substr(out.command[0].rfind('/') + 1);
    }
    return out;
}

bool is_child_instance(const ExecSpec& spec) {
    if (spec.command.size() < 2 || spec.command[1] != "broker") {
        return false;
    }
    const std::string& program = spec.command[0];
    return program.substr(program.rfind('/') + 1) == "flux";
}

}  // namespace weir::broker
