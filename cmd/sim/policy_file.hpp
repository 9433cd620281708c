// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a file with a policy for replays: [sim] has the scheduler and the machine, [weir] the order of the queue and
// [[partition]] the partitions as for an instance (doc/configuration.md). Must not know logs or replays.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/sim/provenance.hpp"
#include "cmd/sim/site_partitions.hpp"
#include "libfairshare/tree/share_tree.hpp"
#include "libsched/config/settings.hpp"
#include "libsched/policy/policy.hpp"
#include "libsched/sim/log_names.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/site_values.hpp"

namespace weir::cmd {

struct PolicyFile {
    std::string path;
    std::string name;  ///< [sim] name, else the file's without folders and ending
    Policy scheduler = Easy{};
    std::int64_t cores = 0;                    ///< 0: the log's
    std::optional<config::Settings> settings;  ///< none without [weir]: the queue is in order of submission
    bool has_groups = false;                   ///< [sim] shares = "groups": each group an equal share, not each user
    std::string site_path;                     ///< [sim] site-values, as written
    SiteValuesPtr site;                        ///< the values in that file
    std::string tree_path;                     ///< of `tree`
    std::optional<ShareTree> tree;             ///< where [weir] names a share tree
    std::optional<SitePartitions> partitions;  ///< where there is a [[partition]]
    QueueNames queues;                         ///< [sim.queues] and [sim] default-queue
    std::vector<std::string> warnings;         ///< settings without effect, each with the file
    PolicySource source;                       ///< the files, with hashes, and all settings that are in force
};

/// What the file calls the users and queues of a log, else what the log does; `log` has the log's own names.
LogNames log_names(const PolicyFile& file, const LogNames& log);
/// The payers of a log: leaves of the file's tree, else equal shares for all users or all groups.
LogShares log_shares(const PolicyFile& file, const LogNames& log);
/// The order of the queue in one replay of the log, make_priority_order()'s. REQUIRES: settings.
Result<std::unique_ptr<QueueOrder>> queue_order(const PolicyFile& file, std::int64_t cores, const LogNames& log);

/// tree_of() of the file's partitions; the account of a job is that of its payer in the file's tree, else the log's.
/// REQUIRES: partitions. Errors: as tree_of(), with the file.
Result<SimTree> tree_of(const PolicyFile& file, const Policy& scheduler, std::int64_t cores, const LogNames& log);

/// A policy's name as people read it: runs of blanks are one blank, and characters that cannot be printed are removed.
/// Two policies must differ in it.
std::string read_name(const std::string& name);

/// Errors, each with file, line where there is one, value and what is right: no such file, no TOML, unknown keys or bad
/// values in [sim], [weir] and [[partition]], none of these tables, an invalid share tree.
Result<PolicyFile> read_policy_file(const std::string& path);

}  // namespace weir::cmd
