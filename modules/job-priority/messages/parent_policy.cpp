// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see parent_policy.hpp.
#include "modules/job-priority/messages/parent_policy.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace weir::priority {
namespace {

/// Keys of [weir] that are each instance's own.
constexpr std::array<std::string_view, 6> own_keys{"share-tree", "state",          "plugin",
                                                   "route",      "parent-factors", "unavail-timeout"};

bool is_own(std::string_view key) {
    return std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end();
}

/// FNV-1a.
std::uint32_t hash_of(std::string_view text, std::uint32_t hash = 2166136261U) {
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    return hash;
}

Json write_machine(const MachineSize& machine) {
    Json json = Json::object();
    json.set("cores", machine.cores).set("nodes", machine.nodes).set("gpus", machine.gpus);
    return std::move(json.set("memory_gib", machine.memory_gib).set("node_cores", machine.node_cores));
}

std::optional<MachineSize> read_machine(const json_t* json) {
    const auto cores = read_integer(json, "cores");
    if (!cores || *cores < 1 || *cores > UINT32_MAX) {
        return std::nullopt;
    }
    MachineSize machine;
    machine.cores = static_cast<std::uint32_t>(*cores);
    machine.nodes =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(read_integer(json, "nodes").value_or(1), 1, UINT32_MAX));
    machine.gpus = read_number(json, "gpus").value_or(0.);
    machine.memory_gib = read_number(json, "memory_gib").value_or(0.);
    machine.node_cores = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(read_integer(json, "node_cores").value_or(0), 0, UINT32_MAX));
    return machine;
}

}  // namespace

Json shared_table(const json_t* table) {
    Json shared = Json::object();
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(table), key, value) {  // it only walks
        if (!is_own(key)) {
            shared.set(key, Json::ref(value));
        }
    }
    return shared;
}

std::vector<std::string> shared_arguments(const std::vector<std::string>& arguments) {
    std::vector<std::string> shared;
    for (const std::string& argument : arguments) {
        if (!is_own(argument.substr(0, argument.find('=')))) {
            shared.push_back(argument);
        }
    }
    return shared;
}

std::string settings_revision(const ParentPolicy& policy) {
    std::uint32_t hash = hash_of(policy.table.dump(JSON_COMPACT | JSON_SORT_KEYS));
    for (const std::string& argument : policy.arguments) {
        hash = hash_of("\n" + argument, hash);
    }
    if (policy.machine) {
        hash = hash_of(write_machine(*policy.machine).dump(), hash);
    }
    std::array<char, 9> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%08x", hash);
    return digits.data();
}

Json write_policy(const ParentPolicy& policy, ChildKind child) {
    const bool is_partition = child == ChildKind::partition;
    Json table = shared_table(policy.table.get());  // a copy of its own
    if (!is_partition) {
        json_object_del(table.get(), "users");
    }
    if (child == ChildKind::outsider) {
        json_object_del(table.get(), "associations");
    }
    Json arguments = Json::array();
    for (const std::string& argument : policy.arguments) {
        arguments.append(argument);
    }
    Json message = Json::object();
    message.set("table", std::move(table)).set("arguments", std::move(arguments));
    if (policy.machine) {
        message.set("machine", write_machine(*policy.machine));
    }
    if (is_partition && policy.tree_revision != 0 && policy.tree) {
        message.set("tree_revision", policy.tree_revision).set("tree", *policy.tree);
    }
    return message;
}

Result<ParentPolicy> read_policy(const json_t* message) {
    ParentPolicy policy;
    json_t* table = json_object_get(message, "table");
    const json_t* arguments = json_object_get(message, "arguments");
    if (!json_is_object(table) || !json_is_array(arguments)) {
        return Error{std::errc::protocol_error, "a policy wants {table:o, arguments:[s...]}"};
    }
    policy.table = shared_table(table);
    for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
        const char* text = json_string_value(json_array_get(arguments, i));
        if (text == nullptr) {
            return Error{std::errc::protocol_error, "arguments[" + std::to_string(i) + "] must be key=value"};
        }
        policy.arguments.emplace_back(text);
    }
    policy.arguments = shared_arguments(policy.arguments);
    policy.machine = read_machine(json_object_get(message, "machine"));
    if (const auto text = read_string(message, "tree")) {
        policy.tree = std::string(*text);
        policy.tree_revision = read_integer(message, "tree_revision").value_or(0);
    }
    return policy;
}

Result<Settings> settings_below(const ParentPolicy& policy, const json_t* own,
                                const std::vector<std::string>& own_arguments) {
    const Json table = shared_table(policy.table.get());
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(own), key, value) {  // it only walks
        const bool has_none = json_object_get(table.get(), key) == nullptr;
        if (is_own(key) || (std::string_view(key) == "users" && has_none)) {
            json_object_set(table.get(), key, value);
        }
    }
    std::vector<std::string> arguments = policy.arguments;
    arguments.insert(arguments.end(), own_arguments.begin(), own_arguments.end());
    return read_settings(table.get(), arguments);
}

}  // namespace weir::priority
