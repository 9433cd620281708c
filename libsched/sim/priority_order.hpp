// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of a replay's queue under a site's policy, from its settings. Must not know logs, metrics.
#pragma once
#include <memory>

#include "libfairshare/base/result.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/site_values.hpp"

namespace weir {

/// The production code under `settings.policy`; nullptr for fcfs, which is how a replay's queue stands anyway.
/// Where the tree of `shares` has limits, they hold (LimitedOrder).
/// `site`: values of the log's jobs for the site factor. Errors: EINVAL for what a replay cannot know, with what to
/// change.
Result<std::unique_ptr<QueueOrder>> make_priority_order(const PolicySettings& settings, std::int64_t machine_cores,
                                                        LogShares shares, SiteValuesPtr site = {});

/// What a log's jobs are known by; for policy_warnings().
SiteFacts log_facts(bool has_site_values);

}  // namespace weir
