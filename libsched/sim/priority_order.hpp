// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of a replay's queue under a site's policy, from its settings. Must not know logs, metrics.
#pragma once
#include <memory>

#include "libfairshare/base/result.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"

namespace weir {

/// The production code under `settings.policy`; nullptr for fcfs, which is how a replay's queue stands anyway.
/// Errors: EINVAL for what a replay cannot know, with what to change.
Result<std::unique_ptr<QueueOrder>> make_priority_order(const PolicySettings& settings, std::int64_t machine_cores,
                                                        LogShares shares);

}  // namespace weir
