// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the shares against which the policies of a comparison are measured, and the place of each of the log's users in
// them. Must not know policies or replays.
#pragma once
#include <string>
#include <vector>

#include "cmd/sim/comparison.hpp"
#include "libsched/sim/log_shares.hpp"

namespace weir::cmd {

/// Equal shares for all users of the log, and for all its groups; if it has a single group, or more than half as many
/// groups as users, the users are used as accounts.
void measure_equal_shares(Yardstick& yardstick, const std::vector<SimJob>& jobs);

/// The shares of a tree, with the log's users as in the policy that has the tree. A user who is not in the tree is a
/// party without shares.
void measure_share_tree(Yardstick& yardstick, const std::vector<SimJob>& jobs, const std::string& path,
                        LogShares shares);

}  // namespace weir::cmd
