// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the association trees of the Slurm files. Must not know which program answered nor what.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

struct SlurmAssociation {
    std::int64_t id = 0;
    std::string account, user, partition;  ///< user and partition empty for an account
    std::string parent;                    ///< an account's
    std::optional<std::int64_t> shares;    ///< none: `parent`
    const Value* usage = nullptr;          ///< a number; none: nothing used
};
/// From {id, account, user, parent, partition, raw_shares, raw_usage}; raw_shares "parent" too.
std::vector<SlurmAssociation> slurm_associations(const Value* rows);
/// From {type, name, parent, account, partition, shares, usage}, with the account and the user root that every Slurm
/// has.
std::vector<SlurmAssociation> slurm_tree_rows(const Value* rows);

struct SlurmTree {
    ShareTree tree;
    std::vector<CoreMicros> usage;          // in the file's unit divided by `unit`
    double unit = 1;                        // what one unit of the file is in `usage`
    std::map<std::int64_t, NodeId> node;    // by the file's id
    std::map<std::string, NodeId> by_name;  // "account", "account/user", "account/user/partition"
};

/// Parents come before their children.
SlurmTree slurm_tree(const std::vector<SlurmAssociation>& associations);
/// What a slurm.conf chooses by PriorityFlags and FairShareDampeningFactor.
Algorithm slurm_algorithm(const std::string& slurm_conf);

}  // namespace weir::oracle
