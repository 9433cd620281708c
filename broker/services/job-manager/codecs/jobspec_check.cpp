// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the validation of a jobspec V1; every error names the path of the bad key.
// Must not know: queues, flux_t. RFC 14, 25, 26, 31; the accepted set follows flux-core's JobspecV1 validator.
#include <cmath>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

Error at(const std::string& path, const std::string& what) {
    return Error{std::errc::invalid_argument, "jobspec: " + path + ": " + what};
}

std::string shown(const json_t* value) {
    std::string text;
    append_json(text, value);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

Status check_keys(const json_t* object, const std::string& path, std::initializer_list<std::string_view> allowed) {
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(object), key, value) {
        bool is_known = false;
        std::string list;
        for (const std::string_view name : allowed) {
            is_known |= name == key;
            list += (list.empty() ? "" : ", ") + std::string(name);
        }
        if (!is_known) {
            return at(path.empty() ? key : path + "." + key, "unknown key; allowed are " + list);
        }
    }
    return Done{};
}

bool is_counted(std::string_view type) {
    return type == "node" || type == "slot" || type == "core";
}

Status check_count(const json_t* resource, std::string_view type, const std::string& path) {
    const json_t* count = json_object_get(resource, "count");
    if (!count) {
        return at(path + ".count", "missing; give a positive integer");
    }
    if (json_is_object(count)) {
        const auto low = read_integer(count, "min");
        const auto high = read_integer(count, "max");
        if (!low || *low < 1) {
            return at(path + ".count.min", "must be an integer of at least 1");
        }
        if (json_object_get(count, "max") && (!high || *high < *low)) {
            return at(path + ".count.max", "must be an integer and not below min");
        }
        return Done{};
    }
    if (json_is_string(count)) {
        return Done{};  // RFC 45 range: the scheduler checks it
    }
    if (!json_is_integer(count)) {
        return at(path + ".count", "must be a positive integer, not " + shown(count));
    }
    if (json_integer_value(count) < (is_counted(type) ? 1 : 0)) {
        return at(path + ".count", "must be a positive integer, not " + shown(count));
    }
    return Done{};
}

Status check_resources(const json_t* list, const std::string& path, bool& has_slot);

Status check_resource(const json_t* resource, const std::string& path, bool& has_slot) {
    if (!json_is_object(resource)) {
        return at(path, "must be an object, not " + shown(resource));
    }
    const auto type = read_string(resource, "type");
    if (!type) {
        return at(path + ".type", "missing or not a string; one of node, slot, core, gpu");
    }
    if (auto ok = check_count(resource, *type, path); !ok) {
        return ok;
    }
    if (*type == "slot") {
        has_slot = true;
        if (!read_string(resource, "label")) {
            return at(path + ".label", "a slot needs a label (string), which its task names");
        }
    }
    if (json_object_get(resource, "exclusive") && !read_boolean(resource, "exclusive")) {
        return at(path + ".exclusive", "must be true or false");
    }
    for (const char* key : {"unit", "label", "id"}) {
        if (json_object_get(resource, key) && !read_string(resource, key)) {
            return at(path + "." + key, "must be a string");
        }
    }
    if (const json_t* with = json_object_get(resource, "with")) {
        return check_resources(with, path + ".with", has_slot);
    }
    if (*type == "slot") {
        return at(path + ".with", "a slot must hold at least one resource, for example a core");
    }
    return Done{};
}

Status check_resources(const json_t* list, const std::string& path, bool& has_slot) {
    if (!json_is_array(list) || json_array_size(list) == 0) {
        return at(path, "must be a list of at least one resource");
    }
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        if (auto ok = check_resource(json_array_get(list, i), path + "[" + std::to_string(i) + "]", has_slot); !ok) {
            return ok;
        }
    }
    return Done{};
}

Status check_task_count(const json_t* task, const std::string& path) {
    const json_t* count = json_object_get(task, "count");
    if (!json_is_object(count) || json_object_size(count) != 1) {
        return at(path, "must be an object with one key: per_slot, per_resource or total");
    }
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(count), key, value) {
        const std::string_view name = key;
        if (name != "per_slot" && name != "per_resource" && name != "total") {
            return at(path + "." + key, "unknown key; per_slot, per_resource or total");
        }
        if (name != "per_resource" && (!json_is_integer(value) || json_integer_value(value) < 1)) {
            return at(path + "." + key, "must be a positive integer, not " + shown(value));
        }
    }
    return Done{};
}

Status check_task(const json_t* task, const std::string& path) {
    if (!json_is_object(task)) {
        return at(path, "must be an object, not " + shown(task));
    }
    const json_t* command = json_object_get(task, "command");
    if (!json_is_array(command) || json_array_size(command) == 0) {
        return at(path + ".command", "must be a list of at least one string");
    }
    for (std::size_t i = 0; i < json_array_size(command); ++i) {
        if (!json_is_string(json_array_get(command, i))) {
            return at(path + ".command[" + std::to_string(i) + "]", "must be a string");
        }
    }
    if (!read_string(task, "slot")) {
        return at(path + ".slot", "missing or not a string; the label of a slot");
    }
    return check_task_count(task, path + ".count");
}

Status check_dependencies(const json_t* system) {
    const json_t* list = json_object_get(system, "dependencies");
    if (list && !json_is_array(list)) {
        return at("attributes.system.dependencies", "must be a list");
    }
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        for (const char* key : {"scheme", "value"}) {
            if (!read_string(json_array_get(list, i), key)) {
                return at("attributes.system.dependencies[" + std::to_string(i) + "]." + key,
                          "missing or not a string");
            }
        }
    }
    return Done{};
}

Status check_constraint(const json_t* constraint, const std::string& path) {
    if (!json_is_object(constraint)) {
        return at(path, "must be an object, not " + shown(constraint));
    }
    const char* key;
    json_t* value;
    json_object_foreach(const_cast<json_t*>(constraint), key, value) {
        const std::string_view name = key;
        if (!json_is_array(value)) {
            return at(path + "." + key, "must be a list");
        }
        const bool is_logic = name == "and" || name == "or" || name == "not";
        if (!is_logic && name != "properties" && name != "hostlist" && name != "ranks") {
            return at(path + "." + key, "unknown operator; and, or, not, properties, hostlist or ranks");
        }
        for (std::size_t i = 0; is_logic && i < json_array_size(value); ++i) {
            if (auto ok = check_constraint(json_array_get(value, i), path + "." + key + "[" + std::to_string(i) + "]");
                !ok) {
                return ok;
            }
        }
    }
    return Done{};
}

Status check_system(const json_t* system) {
    const json_t* duration = json_object_get(system, "duration");
    if (!json_is_number(duration)) {
        return at("attributes.system.duration", "missing or not a number; seconds, 0 for no limit");
    }
    const double seconds = json_number_value(duration);
    if (!std::isfinite(seconds) || seconds < 0) {
        return at("attributes.system.duration", "must not be negative, but is " + shown(duration));
    }
    for (const char* key : {"cwd", "queue", "bank", "project", "qos"}) {
        if (json_object_get(system, key) && !read_string(system, key)) {
            return at(std::string("attributes.system.") + key, "must be a string");
        }
    }
    const json_t* environment = json_object_get(system, "environment");
    if (environment && !json_is_object(environment)) {
        return at("attributes.system.environment", "must be an object of strings");
    }
    if (auto ok = check_dependencies(system); !ok) {
        return ok;
    }
    if (const json_t* constraints = json_object_get(system, "constraints")) {
        return check_constraint(constraints, "attributes.system.constraints");
    }
    return Done{};
}

}  // namespace

Status validate_jobspec(const json_t* jobspec) {
    if (!json_is_object(jobspec)) {
        return Error{std::errc::invalid_argument, "jobspec: must be an object"};
    }
    if (auto ok = check_keys(jobspec, "", {"resources", "tasks", "attributes", "version"}); !ok) {
        return ok;
    }
    if (read_integer(jobspec, "version").value_or(0) != 1) {
        return at("version", "must be 1 (RFC 25)");
    }
    bool has_slot = false;
    if (auto ok = check_resources(json_object_get(jobspec, "resources"), "resources", has_slot); !ok) {
        return ok;
    }
    if (!has_slot) {
        return at("resources", "no slot; a jobspec needs one resource of type slot");
    }
    const json_t* tasks = json_object_get(jobspec, "tasks");
    if (!json_is_array(tasks) || json_array_size(tasks) != 1) {
        return at("tasks", "must be a list of exactly one task");
    }
    if (auto ok = check_task(json_array_get(tasks, 0), "tasks[0]"); !ok) {
        return ok;
    }
    const json_t* attributes = json_object_get(jobspec, "attributes");
    if (!json_is_object(attributes)) {
        return at("attributes", "must be an object");
    }
    if (auto ok = check_keys(attributes, "attributes", {"system", "user"}); !ok) {
        return ok;
    }
    const json_t* system = json_object_get(attributes, "system");
    if (!json_is_object(system)) {
        return at("attributes.system", "must be an object (it holds duration)");
    }
    return check_system(system);
}

}  // namespace weir::broker::jobs
