// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which gpus each task of a job is told of. Must not know processes, jobspecs or messages.
// Source: flux-core's job shell (rcalc_distribute() of rcalc.c, gpubind.c).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libfairshare/base/id_set.hpp"

namespace weir::broker {

/// What a job has of a node.
struct NodeShare {
    std::uint64_t cores = 0;
    IdSet gpus;
    std::uint32_t tasks = 0;
};

/// Gives each node its tasks, one after another in rounds: the node with the most cores first, each as long as it has
/// cores for one more task. With more tasks than that, from the beginning. O(tasks + nodes log nodes).
void place_tasks(std::vector<NodeShare>& nodes, std::uint32_t task_count);

/// As CUDA_VISIBLE_DEVICES has them, "2,3", -1 for none. \param own the names of the gpus in order, "4,5,GPU-7"; those
/// without a name there have their numbers.
std::string visible_gpus(const IdSet& gpus, const std::string& own);

/// The same of each task in the order of the ranks, those of the first node first: "2*0,1;1*3" is 0,1 for the first two
/// and 3 for the next. \param is_per_task each has an equal part of its node's, else all of them.
std::string gpus_of_tasks(const std::vector<NodeShare>& nodes, const std::string& own, bool is_per_task);

/// Those of one task in such a text. Empty: it is told of none.
std::string gpus_of_task(const std::string& text, int rank);

}  // namespace weir::broker
