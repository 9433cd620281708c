// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the order of a replay's queue under a site's policy, from its settings. Must not know logs, metrics.
#pragma once
#include <memory>

#include "libfairshare/base/result.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_names.hpp"
#include "libsched/sim/log_shares.hpp"
#include "libsched/sim/queue_order.hpp"
#include "libsched/sim/site_values.hpp"

namespace weir {

/// The production code for `settings.policy`; nullptr for fcfs, which is the default order of a replay. Limits in the
/// tree of `shares` are enforced (LimitedOrder). `site`: values of the log's jobs for the site factor. `names`: what
/// the settings call the log's users, accounts and queues. Errors: EINVAL for settings that a replay cannot follow,
/// with what to change.
Result<std::unique_ptr<QueueOrder>> make_priority_order(const PolicySettings& settings, std::int64_t machine_cores,
                                                        LogShares shares, SiteValuesPtr site = {},
                                                        const LogNames& names = {});

/// The facts known about a log's jobs; for policy_warnings().
SiteFacts log_facts(bool has_site_values);

}  // namespace weir
