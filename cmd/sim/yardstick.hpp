// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the policies of a comparison are measured against: whose shares, and who of the log stands where in them.
// Must not know policies or replays.
#pragma once
#include <string>
#include <vector>

#include "cmd/sim/comparison.hpp"
#include "libsched/sim/log_shares.hpp"

namespace weir::cmd {

/// Equal shares for all users of the log, and for all its groups; where it has a single group, or more
/// than half as many groups as users, the users stand for accounts too.
void measure_equal_shares(Yardstick& yardstick, const std::vector<SimJob>& jobs);

/// The shares of a tree, as a policy that has it sees the log. Who stands nowhere in it is a party without shares.
void measure_share_tree(Yardstick& yardstick, const std::vector<SimJob>& jobs, const std::string& path,
                        LogShares shares);

}  // namespace weir::cmd
