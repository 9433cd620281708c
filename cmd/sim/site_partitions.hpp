// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the partitions of a site file as a replay takes them: [[partition]] and those below, [weir.route] hand-down,
// and the keys of [sim] about links and queues. Must not know replays, or logs beyond the numbers of their queues.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/text/toml_json.hpp"
#include "libsched/sim/log_names.hpp"
#include "modules/replay/tree_replay.hpp"

namespace weir::cmd {

struct SitePartition {
    SimPartition partition;          ///< `scheduler` only where it has its own; without `partitions`
    bool has_own_scheduler = false;  ///< false: the file's, or the command line's
    std::vector<SitePartition> partitions = {};
};

struct SitePartitions {
    std::vector<SitePartition> partitions;  ///< none: one pool
    std::int64_t hand_down = route::HandDown::depth_default;
    Duration link_delay{};
    Duration report_interval{};
    QueueNames queues;                  ///< [sim.queues], and default-queue of all others; empty: see tree_of()
    std::vector<std::string> warnings;  ///< keys without effect in a replay
};

/// `document`: the whole file. Errors, one a line, each with file and line where it is known: what decode_partitions()
/// says; partitions that have more cores than the one around them; an unknown scheduler; a bad [weir.route] hand-down,
/// [sim] link-delay, report-interval, queues or default-queue.
Result<SitePartitions> read_site_partitions(const json_t* document, const TomlPlaces& places);

/// The tree that is replayed on `cores` cores. A job's queue is `queues` of its number; else the log's name of its
/// queue, if a partition serves that; else default-queue; else the only queue that there is; else its number.
/// REQUIRES: partitions. Error: they have more cores than the machine.
Result<SimTree> tree_of(const SitePartitions& site, const Policy& scheduler, std::int64_t cores,
                        const QueueNames& log_queues = {});
/// [sim.queues] by number.
Json queues_json(const QueueNames& queues);

/// All settings of it in force, for the record of a comparison.
Json settings_json(const SitePartitions& site);

/// The schedulers, each once, and the number of partitions that have one: "easy in 2 partitions", "fcfs and easy in 3
/// partitions".
std::string scheduler_text(const SimTree& tree);

}  // namespace weir::cmd
