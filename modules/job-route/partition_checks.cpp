// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see partition_checks.hpp.
#include "modules/job-route/partition_checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "libsched/config/settings.hpp"
#include "modules/sched/arguments.hpp"

namespace weir::route {
namespace {

/// Names of earlier releases, which the embedded broker still takes.
constexpr std::string_view former_schedulers[] = {"sched-fcfs", "sched-backfill"};

void add_lines(std::string& mistakes, const std::string& lead, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        mistakes += (mistakes.empty() ? "" : "\n") + lead + line;
    }
}

bool is_readable(const std::string& path) {
    return access(path.c_str(), R_OK) == 0;
}

/// Also true where the folders are not known, and where the instance chooses its scheduler by itself.
bool is_there(const std::string& module, const LaunchPlace& place) {
    const std::vector<std::string> folders = module_folders(place);
    if (module.empty() || folders.empty()) {
        return true;
    }
    if (module.find('/') != std::string::npos) {
        return is_readable(module);
    }
    const bool is_stock = place.broker.empty();
    return (!is_stock && std::find(std::begin(former_schedulers), std::end(former_schedulers), module) !=
                             std::end(former_schedulers)) ||
           std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
               const std::string path = folder + "/" + module;
               return is_readable(path + ".so") || (is_stock && is_readable(path + ".py"));
           });
}

/// Of the schedulers of this project: those of others check their own when they start.
Status check_options(const std::string& scheduler, const std::vector<std::string>& options) {
    for (const auto& [name, policy] : {std::pair{"sched-weir-easy", "easy"}, std::pair{"sched-weir-fcfs", "fcfs"}}) {
        if (scheduler == name) {
            const std::vector<std::string_view> arguments(options.begin(), options.end());
            const auto read = sched::settings_of(*policy_named(policy), arguments);
            return read ? Status(Done{}) : Status(read.error());
        }
    }
    return Done{};
}

}  // namespace

std::vector<std::string> module_folders(const LaunchPlace& place) {
    std::vector<std::string> folders;
    if (const auto listed = place.environment.find("FLUX_MODULE_PATH"); listed != place.environment.end()) {
        std::istringstream paths(listed->second);
        for (std::string path; std::getline(paths, path, ':');) {
            folders.push_back(path);
        }
    }
    if (place.broker.empty()) {
        return folders;
    }
    const std::filesystem::path prefix = std::filesystem::path(place.broker).parent_path().parent_path();
    for (const char* lib : {"lib/flux/modules", WEIR_LIBDIR "/flux/modules"}) {
        folders.push_back((prefix / lib).string());
    }
    return folders;
}

Status check_instances(const std::vector<PartitionSpec>& specs, const LaunchPlace& place) {
    std::string mistakes;
    for (const PartitionSpec& spec : specs) {
        const std::string lead = "[partition " + spec.name + "] ";
        const std::string scheduler = partition_scheduler(spec, place);
        if (!is_there(scheduler, place)) {
            add_lines(mistakes, lead,
                      "scheduler = \"" + spec.scheduler +
                          "\": there is no such module; it must be \"easy\", \"fcfs\" "
                          "or the name of a scheduler's module");
        }
        if (const Status read = check_options(scheduler, spec.options); !read) {
            add_lines(mistakes, lead + "options: ", read.error().message);
        }
        const Json config = spec.config.empty() ? Json::object() : Json::parse(spec.config).value();
        if (const json_t* table = json_object_get(config.get(), "weir")) {
            if (const auto read = config::read_settings(table, {}); !read) {
                add_lines(mistakes, lead + "config.weir: ", read.error().message);
            }
        }
    }
    return mistakes.empty() ? Status(Done{}) : Status(Error{std::errc::invalid_argument, mistakes});
}

}  // namespace weir::route
