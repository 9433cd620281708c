// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the association trees of the Slurm files. Must not know which program answered nor what.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

struct SlurmTree {
    ShareTree tree;
    std::vector<CoreMicros> usage;          // in the file's unit divided by `unit`
    double unit = 1;                        // what one unit of the file is in `usage`
    std::map<std::int64_t, NodeId> node;    // by the file's id
    std::map<std::string, NodeId> by_name;  // "account", "account/user", "account/user/partition"
};

/// From an array of {id, kind, account, user, parent, partition, raw_shares, raw_usage}; raw_shares "parent" too.
SlurmTree slurm_tree(const json_t* associations);
/// What a slurm.conf chooses by PriorityFlags and FairShareDampeningFactor.
Algorithm slurm_algorithm(const std::string& slurm_conf);

}  // namespace weir::oracle
