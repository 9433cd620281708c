// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the plan of an instance tree (a parent with partitions) and the TOML configurations for it. Pure.
// Must not know processes. Keys: doc/configuration.md.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// A child instance on a slice of the parent's nodes; serves the queue of its name.
struct Partition {
    std::string name;
    std::string scheduler;  ///< module: "sched-weir-fcfs", "sched-weir-easy"
    std::int64_t nodes = 1;
    std::int64_t cores_per_node = 1;
    std::vector<std::string> overflow = {};  ///< queues whose jobs it runs behind its own
    std::int64_t cores() const { return nodes * cores_per_node; }
};

struct Plan {
    std::string rundir;    ///< absolute; sockets live here
    std::string statedir;  ///< absolute; job journals and state files; empty: in memory
    std::string plugins;   ///< folder of the jobtap plugins
    std::string share_tree;
    std::map<std::string, std::uint32_t> users;
    std::string host = "node";  ///< nodes are called host0, host1, ...; a single node has the bare name
    std::int64_t nodes = 1, cores_per_node = 1;
    std::vector<Partition> partitions;
    std::string default_queue;
    double scale = 1;  ///< of the clock
    /// Unix seconds at which scaled and real time agree; used with a scale alone. Empty: from the broker's statedir,
    /// else the start. Partitions take their parent's clock.
    std::optional<double> origin;
    std::map<std::string, std::string> weir;  ///< further keys of [weir], as "half-life" -> "1d"
    std::map<std::string, double> weights;
    std::int64_t jobs_kept = 10000;  ///< ended jobs in memory
};

/// A TOML basic string, quotes and all.
std::string toml_string(const std::string& text);
/// The partitions are tables [[partition]] of it, which job-route keeps; a configuration with such tables of its own
/// replaces them. `queues` are those of the partitions.
std::string parent_config(const Plan& plan, const std::vector<std::string>& queues);

}  // namespace weir::cmd
