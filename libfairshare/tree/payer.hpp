// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which leaf of the tree pays for a job, from what the job says: user, account, groups, queue, QoS.
// Must not know: jobs, where their attributes stand. doc/adr/0120.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// What a job says; empty: nothing.
struct Credentials {
    std::string_view user = {};
    std::string_view account = {};  ///< by path, or by its last component where only one account has it
    std::string_view queue = {};    ///< also the partition of lines such as "@alice:debug"
    std::string_view qos = {};
    std::span<const std::string> groups = {};  ///< the user's
};

/// The leaf that pays, or the node whose `@*` line lets the user in (then without `leaf`: ShareTree::with_member()).
/// From the account the job goes down into the first listed group, queue or QoS that it belongs to and that has a place
/// for it, and so on from there; else the user's own line there, else `@*`. Nodes of groups, queues and QoS that the
/// job does not belong to are closed to it with all below them. A named account is looked for below the job's own
/// groups, queues and QoS first. Without one: what stands at the top for these; the account of the user's own lines,
/// the one marked default first; of the user's groups; of the first listed `@*`.
/// Errors: ENOENT and EINVAL as ShareTree::association(), with what is open to the user. O(depth x (the user's lines +
/// the job's groups, queues and QoS)).
Result<Association> payer_of(const ShareTree& tree, const Credentials& job);

/// The account that a node stands in: itself, or the nearest above it past users, groups, queues and QoS; the root
/// where there is none.
NodeId account_above(const ShareTree& tree, NodeId node);

}  // namespace weir
