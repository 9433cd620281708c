// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of keys. A key that a module of ours begins to read is a line here.
#include "broker/core/config_keys.hpp"
#include "libfairshare/base/json/config_changes.hpp"
#include "libfairshare/base/nearest_name.hpp"

#include <array>
#include <string_view>

namespace weir::broker {
namespace {

/// Paths from the top; a star is any name. Keys below a listed path are checked by its reader.
constexpr std::array keys_known{
    "access.allow-guest-user",
    "access.allow-root-owner",
    "access.private-mode",
    "clock.origin",
    "clock.scale",
    "exec.kill-timeout",
    "job-manager.inactive-age-limit",
    "job-manager.inactive-num-limit",
    "job-manager.journal-sync",
    "job-manager.plugins",
    "partition",  // job-route refuses what it does not know there
    "policy.jobspec.defaults.system.duration",
    "policy.jobspec.defaults.system.queue",
    "policy.limits.duration",
    "policy.limits.job-size.max.ncores",
    "policy.limits.job-size.max.ngpus",
    "policy.limits.job-size.max.nnodes",
    "policy.limits.job-size.min.ncores",
    "policy.limits.job-size.min.ngpus",
    "policy.limits.job-size.min.nnodes",
    "queues.*.policy.jobspec.defaults.system.duration",
    "queues.*.policy.limits.duration",
    "queues.*.policy.limits.job-size.max.ncores",
    "queues.*.policy.limits.job-size.max.ngpus",
    "queues.*.policy.limits.job-size.max.nnodes",
    "queues.*.policy.limits.job-size.min.ncores",
    "queues.*.policy.limits.job-size.min.ngpus",
    "queues.*.policy.limits.job-size.min.nnodes",
    "queues.*.requires",
    "resource.config",
    "resource.imagined",
    "resource.path",
    "resource.scheduling",
    "sim",   // of `weir sim`, which reads the same files
    "weir",  // job-priority refuses what it does not know there
    "weir-broker.modules",
};

constexpr std::array keys_read_at_start{"clock", "job-manager.plugins", "resource", "weir-broker"};

/// The next component of `path`, which loses it.
std::string_view take_component(std::string_view& path) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view first = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    return first;
}

/// Walks one table; `known` are the rests of the known paths below it, `path` its own with a dot behind, or empty.
void walk(const json_t* table, const std::string& path, const std::vector<std::string_view>& known,
          const LoadedConfig& config, std::vector<std::string>& out) {
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(table), key, value) {
        std::vector<std::string_view> below;
        std::vector<std::string> names;
        bool is_read = false;
        for (std::string_view rest : known) {
            const std::string_view name = take_component(rest);
            if (names.empty() || names.back() != name) {
                names.emplace_back(name);
            }
            if (name == "*" || name == key) {
                is_read = is_read || rest.empty();
                below.push_back(rest);
            }
        }
        const std::string here = path + key;
        const std::string lead = config.places.of(here) + key_text(here);
        if (below.empty()) {
            const std::string near = nearest_name(key, names);
            std::string list;
            for (const std::string& name : names) {
                list += (list.empty() ? "" : ", ") + name;
            }
            const bool is_table = path.empty();
            out.push_back(lead + " has no effect: unknown here; " +
                          (near.empty() ? (is_table ? "the tables are " : "the keys are ") + list
                                        : "did you mean " + (is_table ? "[" + near + "]" : near) + "?"));
        } else if (!is_read && !json_is_object(value)) {
            out.push_back(lead + " = " + Json::ref(value).dump() + " has no effect: it must be a table");
        } else if (!is_read) {
            walk(value, here + ".", below, config, out);
        }
    }
}

}  // namespace

std::vector<std::string> unknown_keys(const LoadedConfig& config) {
    std::vector<std::string> out;
    walk(config.config.get(), "", {keys_known.begin(), keys_known.end()}, config, out);
    return out;
}

std::vector<std::string> kept_until_restart(const Json& at_start, const LoadedConfig& now) {
    std::vector<std::string> out;
    for (const std::string path : keys_read_at_start) {
        const Json old = value_at(at_start, path);
        const Json wanted = value_at(now.config, path);
        if (!json_equal(old.get(), wanted.get()) && (old || wanted)) {
            out.push_back(now.places.of(path) + key_text(path) +
                          " is read only at the start: the change takes effect at the next start");
        }
    }
    return out;
}

}  // namespace weir::broker
