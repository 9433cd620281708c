// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the choice of the leaf that is charged for a job, from its user, account, groups, queue and QoS. Must not know:
// jobs, where these attributes come from.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// The attributes of a job; empty means none.
struct Credentials {
    std::string_view user = {};
    std::string_view account = {};  ///< by path, or by its last component where only one account has it
    std::string_view queue = {};    ///< also the partition of lines such as "@alice:debug"
    std::string_view qos = {};
    std::span<const std::string> groups = {};  ///< the user's
};

/// The leaf that is charged, or the account whose `@*` line admits the user (then without `leaf`: see
/// ShareTree::with_member()). From its account the job goes down into the first listed group, queue or QoS that it
/// belongs to and that has a place for it, and on from there; else to the user's own line, else to `@*`. Listed order
/// decides, so that a reader can follow the text. Nodes of groups, queues and QoS that the job does not belong to are
/// closed to it, with all nodes below them. A named account is searched below the job's own groups, queues and QoS
/// first. A job without an account tries such nodes at the top of the tree; then the account of the user's own lines,
/// the one marked default first; then that of the user's groups; then the first listed `@*`. Errors: ENOENT and EINVAL
/// as ShareTree::association(), with the accounts that are open to the user. O(depth x (the user's lines + the job's
/// groups, queues and QoS)).
Result<Association> payer_of(const ShareTree& tree, const Credentials& job);

/// Whether the line is for a part of its users' jobs only: those of a group, queue, QoS or partition ("@alice:debug").
bool is_by_job(const ShareTree& tree, NodeId node);

/// The account that contains a node: itself, or the nearest one above users, groups, queues and QoS; the root if there
/// is none.
NodeId account_above(const ShareTree& tree, NodeId node);

}  // namespace weir
