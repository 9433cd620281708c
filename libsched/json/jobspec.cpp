// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 14/25 jobspec version 1, read strictly where it decides about resources and leniently elsewhere.
#include "libsched/json/jobspec.hpp"

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/reader.hpp"
#include "libfairshare/base/memory_size.hpp"

namespace weir {
namespace {

using json::Value;

constexpr std::int64_t count_max = 1 << 24;

std::uint32_t read_count(const Value& vertex) {
    const Value count = vertex.at("count");
    if (!json_is_integer(count.get())) {
        count.fail("must be an integer (ranges of counts are not part of jobspec version 1)");
    }
    return static_cast<std::uint32_t>(count.integer(1, count_max));
}

void read_slot_contents(const Value& slot, Jobspec& out) {
    const Value with = slot.at("with");
    bool has_core = false;
    for (std::size_t i = 0; i < with.size(); i++) {
        const Value vertex = with[i];
        const std::string type = vertex.at("type").string();
        if (type == "core" && !has_core) {
            out.request.cores_per_slot = read_count(vertex);
            has_core = true;
        } else if (type == "gpu" && out.request.gpus_per_slot == 0) {
            out.request.gpus_per_slot = read_count(vertex);
        } else {
            vertex.at("type").fail("a slot holds one \"core\" and at most one \"gpu\" entry, not \"" + type + "\"");
        }
    }
    if (!has_core) {
        with.fail("a slot must hold cores");
    }
}

void read_resources(const Value& resources, Jobspec& out) {
    if (resources.size() != 1) {
        resources.fail("must hold exactly one entry");
    }
    Value vertex = resources[0];
    if (vertex.at("type").string() == "node") {
        out.request.nodes = read_count(vertex);
        if (const auto exclusive = vertex.find("exclusive")) {
            out.request.exclusive = exclusive->boolean();
        }
        const Value with = vertex.at("with");
        if (with.size() != 1) {
            with.fail("a node must hold exactly one slot entry");
        }
        vertex = with[0];
    }
    if (vertex.at("type").string() != "slot") {
        vertex.at("type").fail("must be \"slot\" (under at most one \"node\")");
    }
    out.request.slots = read_count(vertex);
    read_slot_contents(vertex, out);
    const std::uint64_t slots = cores_of(out.request) / out.request.cores_per_slot;
    if (cores_of(out.request) > 0xFFFFFFFFULL || slots * out.request.gpus_per_slot > 0xFFFFFFFFULL) {
        resources.fail("asks for more than 4294967295 cores or gpus");
    }
}

Duration read_duration(const Value& value) {
    return json_is_string(value.get()) ? value.take(parse_fsd(value.string()))
                                       : value.take(duration_from_number(value.number()));
}

std::string string_or_empty(const Value& object, const char* key) {
    const auto value = object.find(key);
    return value ? value->string() : std::string();
}

void read_weir(const Value& weir, Jobspec& out) {
    if (const auto memory = weir.find("memory_per_slot")) {
        out.request.memory_per_slot_mib = memory->take(parse_mib(memory->string()));
    }
    if (const auto userid = weir.find("userid")) {
        out.weir_userid = static_cast<std::uint32_t>(userid->integer(0, 0xFFFFFFFEU));
    }
    if (const auto jobid = weir.find("jobid")) {
        out.weir_jobid = JobId{static_cast<std::uint64_t>(jobid->integer(0, INT64_MAX))};
    }
    if (const auto submit = weir.find("submit")) {
        out.weir_submit = Instant{submit->take(duration_from_number(submit->number()))};
    }
    if (const auto serves = weir.find("serves")) {
        for (std::size_t i = 0; i < serves->size(); i++) {
            out.weir_serves.push_back((*serves)[i].string());
        }
    }
}

void read_system(const Value& system, Jobspec& out) {
    if (const auto duration = system.find("duration")) {
        const Duration limit = read_duration(*duration);
        out.limit = limit == Duration::zero() ? Duration::max() : limit;
    }
    out.queue = string_or_empty(system, "queue");
    out.account = string_or_empty(system, "bank");
    out.qos = string_or_empty(system, "qos");
    out.cwd = string_or_empty(system, "cwd");
    if (const auto job = system.find("job")) {
        out.name = string_or_empty(*job, "name");
    }
    if (const auto constraints = system.find("constraints")) {
        out.constraints = Json::ref(constraints->get()).dump();
    }
    if (const auto exec = system.find("exec")) {
        if (const auto test = exec->find("test")) {
            if (const auto run = test->find("run_duration")) {
                out.run_duration = read_duration(*run);
            }
        }
    }
    if (const auto weir = system.find("weir")) {
        read_weir(*weir, out);
    }
    if (const auto environment = system.find("environment")) {
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(environment->get(), key, value) {
            if (json_is_string(value)) {
                out.environment.emplace(key, Value(value, environment->path() + "." + key).string());
            }
        }
    }
}

void read_tasks(const Value& tasks, Jobspec& out) {
    if (tasks.size() == 0) {
        return;
    }
    const auto command = tasks[0].find("command");
    if (command && json_is_array(command->get())) {
        for (std::size_t i = 0; i < command->size(); i++) {
            out.command.push_back((*command)[i].string());
        }
    } else if (command) {
        out.command.push_back(command->string());
    }
}

Jobspec read_jobspec(const Value& document) {
    Jobspec out;
    const Value version = document.at("version");
    if (!json_is_integer(version.get()) || json_integer_value(version.get()) != 1) {
        version.fail("must be 1");
    }
    read_resources(document.at("resources"), out);
    if (const auto attributes = document.find("attributes")) {
        if (const auto system = attributes->find("system")) {
            read_system(*system, out);
        }
    }
    if (const auto tasks = document.find("tasks")) {
        read_tasks(*tasks, out);
    }
    return out;
}

Json seconds_json(Duration duration) {
    return Json::own(json_real(to_seconds(duration)));
}

Json encode_resources(const Jobspec& jobspec) {
    const Request& request = jobspec.request;
    Json contents = Json::array();
    contents.append(std::move(Json::object().set("type", "core").set("count", request.cores_per_slot)));
    if (request.gpus_per_slot > 0) {
        contents.append(std::move(Json::object().set("type", "gpu").set("count", request.gpus_per_slot)));
    }
    Json vertex = Json::object();
    vertex.set("type", "slot").set("count", request.slots).set("label", "task").set("with", std::move(contents));
    if (request.nodes > 0) {
        Json node = Json::object();
        node.set("type", "node").set("count", request.nodes);
        if (request.exclusive) {
            node.set("exclusive", true);
        }
        node.set("with", std::move(Json::array().append(std::move(vertex))));
        vertex = std::move(node);
    }
    return std::move(Json::array().append(std::move(vertex)));
}

void set_unless_empty(Json& object, const char* key, const std::string& text) {
    if (!text.empty()) {
        object.set(key, text);
    }
}

Json encode_weir(const Jobspec& jobspec) {
    Json weir = Json::object();
    if (jobspec.request.memory_per_slot_mib > 0) {
        weir.set("memory_per_slot", encode_mib(jobspec.request.memory_per_slot_mib));
    }
    if (jobspec.weir_userid) {
        weir.set("userid", *jobspec.weir_userid);
    }
    if (jobspec.weir_jobid) {
        weir.set("jobid", jobspec.weir_jobid->value);
    }
    if (jobspec.weir_submit) {
        weir.set("submit", to_seconds(*jobspec.weir_submit));
    }
    if (!jobspec.weir_serves.empty()) {
        Json serves = Json::array();
        for (const std::string& queue : jobspec.weir_serves) {
            serves.append(Json::string(queue));
        }
        weir.set("serves", std::move(serves));
    }
    return weir;
}

Json encode_system(const Jobspec& jobspec) {
    Json system = Json::object();
    system.set("duration", jobspec.limit == Duration::max() ? Json::own(json_integer(0)) : seconds_json(jobspec.limit));
    set_unless_empty(system, "queue", jobspec.queue);
    set_unless_empty(system, "bank", jobspec.account);
    set_unless_empty(system, "qos", jobspec.qos);
    set_unless_empty(system, "cwd", jobspec.cwd);
    if (!jobspec.name.empty()) {
        system.set("job", std::move(Json::object().set("name", jobspec.name)));
    }
    if (auto constraints = Json::parse(jobspec.constraints); constraints) {
        system.set("constraints", std::move(constraints).value());
    }
    if (jobspec.run_duration) {
        Json test = Json::object();
        test.set("run_duration", encode_fsd(*jobspec.run_duration));
        system.set("exec", std::move(Json::object().set("test", std::move(test))));
    }
    Json weir = encode_weir(jobspec);
    if (json_object_size(weir.get()) > 0) {
        system.set("weir", std::move(weir));
    }
    if (!jobspec.environment.empty()) {
        Json environment = Json::object();
        for (const auto& [key, value] : jobspec.environment) {
            environment.set(key.c_str(), value);
        }
        system.set("environment", std::move(environment));
    }
    return system;
}

}  // namespace

Result<Jobspec> decode_jobspec(json_t* document) {
    return json::read_json(document, "jobspec", read_jobspec);
}

Result<Jobspec> decode_jobspec(std::string_view text) {
    auto document = Json::parse(text);
    if (!document) {
        return Error{document.error().code, "jobspec: " + document.error().message};
    }
    return decode_jobspec(document->get());
}

Json encode_jobspec(const Jobspec& jobspec) {
    Json command = Json::array();
    for (const std::string& word : jobspec.command) {
        command.append(Json::string(word));
    }
    Json task = Json::object();
    task.set("command", std::move(command)).set("slot", "task");
    task.set("count", std::move(Json::object().set("per_slot", 1)));
    Json document = Json::object();
    document.set("version", 1).set("resources", encode_resources(jobspec));
    document.set("tasks", std::move(Json::array().append(std::move(task))));
    document.set("attributes", std::move(Json::object().set("system", encode_system(jobspec))));
    return document;
}

}  // namespace weir
