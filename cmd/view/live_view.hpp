// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the picture of a running instance tree, from a state to lines of text. Pure: no clock, no terminal. Must not
// know where the state comes from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::cmd {

struct ShareLine {
    std::string path;     ///< "physics/lattice/@alice"
    double entitled = 0;  ///< part of the machine, in [0,1]
    double used = 0;      ///< part of all decayed usage, in [0,1]
    std::int64_t running_cores = 0;
    std::int64_t pending_jobs = 0;
};
struct QueueLine {
    std::string id, user, account, queue;
    std::int64_t cores = 0;
    std::int64_t priority = 0;
    Duration waited{};
};
struct RunLine {
    std::string id, user;
    std::int64_t cores = 0;
    double done = 0;  ///< part of the time limit, in [0,1]
};
struct PartitionLine {
    std::string name, policy;
    std::int64_t cores = 0;
    std::int64_t cores_busy = 0;
    std::int64_t pending = 0, running = 0, finished = 0;
    std::vector<RunLine> jobs;  ///< running ones, longest running first
};
struct LiveState {
    Duration span{};  ///< scaled time since the first submit
    double scale = 1;
    std::int64_t jobs = 0, submitted = 0, finished = 0;
    Duration elapsed{};             ///< real time
    Duration left{};                ///< real time, an estimate
    std::vector<ShareLine> shares;  ///< tree order, parents first
    std::vector<QueueLine> queue;   ///< queue order
    std::vector<PartitionLine> partitions;
};

/// The whole picture in at most screen.height lines (0: no limit), each at most screen.width columns. If there are too
/// few lines, the queue is shortened first, then running jobs, then users; accounts and partitions stay.
std::vector<std::string> live_view(const LiveState& state, const Screen& screen);
/// One line for a log: progress, busy cores per partition, the top-level accounts' used against entitled.
std::string live_line(const LiveState& state, Glyphs glyphs);

}  // namespace weir::cmd
