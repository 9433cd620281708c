// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the results of a replay for each partition: figures, a table, JSON. Must not know how they were measured.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"
#include "cmd/sim/totals.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libsched/sim/skipped.hpp"
#include "modules/replay/tree_replay.hpp"

namespace weir::cmd {

struct PartitionFigures {
    std::string name;       ///< with those around it: "long/l2"
    std::string scheduler;  ///< empty: it has partitions
    std::int64_t cores = 0;
    Totals totals = {};                      ///< of the jobs that ran in it, or in a partition of it
    std::optional<std::size_t> around = {};  ///< the place of the partition that it is in
};

/// Of a tree whose replay has not begun: each partition before those that it has.
std::vector<PartitionFigures> no_figures(const SimTree& tree);
/// `outcome` is one of simulate_tree(). O(levels).
void add_outcome(std::vector<PartitionFigures>& partitions, const Outcome& outcome);
/// `makespan`: of the whole replay, to which utilisation is related.
std::string partitions_table(const std::vector<PartitionFigures>& partitions, Duration makespan, const Screen& screen);
Json partitions_json(const std::vector<PartitionFigures>& partitions, Duration makespan);
/// {"mean", "max"}.
Json mean_and_max(double mean, double max);

/// Counts a refused job and names the first of its kind.
void add_refused(Skipped& refused, const SimJob& job, const Refusal& refusal);

}  // namespace weir::cmd
