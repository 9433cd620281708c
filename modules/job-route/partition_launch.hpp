// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the jobspec of a partition's instance, and the configuration that it reads. Must not know files or messages.
// Source: RFC 14, 25, 31, 37 (files); flux-broker(1).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-route/partition_spec.hpp"

namespace weir::route {

/// The facts about the instance that launches partitions.
struct LaunchPlace {
    std::string broker;  ///< path of weir-broker; empty in a stock Flux
    std::string rundir;
    std::string statedir;                   ///< empty: none
    std::string log_folder;                 ///< of the partitions' logs; empty: none
    std::vector<std::string> config_files;  ///< of which a partition reads its part
    std::map<std::string, std::string> environment;
    Json job_manager;  ///< the table [job-manager] of this instance, for the embedded broker
    bool has_instance_queue = false;
};

/// The module; empty: what a stock Flux loads by itself.
std::string partition_scheduler(const PartitionSpec& spec, const LaunchPlace& place);

struct PartitionPaths {
    std::string rundir, statedir, log;  ///< empty: none
};
/// "batch", and "batch.2" for a second instance beside the first.
PartitionPaths partition_paths(const PartitionSpec& spec, const LaunchPlace& place, int folder);

/// A JSON document, as text.
std::string partition_config(const PartitionSpec& spec, const LaunchPlace& place);
std::string partition_jobspec(const PartitionSpec& spec, const LaunchPlace& place, int folder);

}  // namespace weir::route
