// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what live pictures show of an instance, as plain values. Must not know where it comes from, nor how it is
// drawn.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/time.hpp"

namespace weir::cmd {

struct ShareLine {
    std::string path;     ///< "physics/lattice/@alice"
    double entitled = 0;  ///< part of the machine, in [0,1]
    double used = 0;      ///< part of all decayed usage, in [0,1]
    std::int64_t running_cores = 0;
    std::int64_t pending_jobs = 0;
    bool is_shut = false;  ///< there are nodes below it, which are not shown
};
struct QueueLine {
    std::string id, user, account, queue;
    std::int64_t cores = 0;
    std::int64_t priority = 0;
    Duration waited{};
    std::vector<std::pair<std::string, double>> terms{};  ///< the terms of the priority: name, contribution
    std::uint64_t job = 0;
};
struct RunLine {
    std::string id, user;
    std::int64_t cores = 0;
    double done = 0;  ///< part of the time limit, in [0,1]
};
struct PartitionLine {
    std::string name, policy;
    std::int64_t cores = 0;
    std::optional<std::int64_t> cores_busy = 0;  ///< absent: not known
    std::int64_t pending = 0, running = 0, finished = 0;
    std::vector<RunLine> jobs{};  ///< running ones, longest running first
    std::string problem{};        ///< why figures are missing; empty: they are there
    bool is_told = false;         ///< it refuses this user: figures are as its parent tells, some are missing
};
struct LiveScene {
    std::vector<ShareLine> shares;  ///< parents first, siblings in their order
    std::vector<QueueLine> queue;   ///< queue order
    std::vector<PartitionLine> partitions;
};

}  // namespace weir::cmd
