// SPDX-License-Identifier: LGPL-3.0-only
// Owns: names in the settings and in the share tree that nothing has, which is valid and most often a typing mistake.
// Must not know: where the names of queues come from.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libsched/config/policy_settings.hpp"

namespace weir::priority {

/// One sentence for each: a queue of [weir.queues], `at.QUEUE`, `queue:QUEUE` or `@user:QUEUE` that is not among
/// `queues` (nothing: any name may be one), and a path of [weir.associations] that the tree does not have. Each name
/// once, with the one that was probably meant. O(nodes log queues).
std::vector<std::string> unknown_names(const PolicySettings& settings, const ShareTree& tree,
                                       const std::optional<std::set<std::string>>& queues);

/// What `takes` of a [[partition]] names.
struct TakenNames {
    std::string partition;
    std::vector<std::string> accounts;
    std::vector<std::string> qos;
};

/// One sentence for each account that the tree does not have and each QoS that is not known: no job has it, so the rule
/// closes the partition. Where there are no accounts, or known_qos() is nothing, any name may be one. O(names x nodes).
std::vector<std::string> unknown_taken(const PolicySettings& settings, const ShareTree& tree,
                                       const std::vector<TakenNames>& partitions);

/// The QoS that jobs may name; nothing: any, since the settings know none. Those of [weir.qos], and `qos:NAME` in the
/// tree. O(nodes).
std::optional<std::set<std::string>> known_qos(const PolicySettings& settings, const ShareTree& tree);

}  // namespace weir::priority
