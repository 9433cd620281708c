// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which of the [weir] table's settings job-priority cannot follow, and says so. Must not know the keys: they are
// shared with the simulator (libsched/config).
#pragma once
#include <string>
#include <vector>

#include "libsched/config/settings.hpp"
#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/charges/ledgers.hpp"

namespace weir::priority {

using Settings = config::Settings;

/// config::read_settings(); what is right but not for this module is an error, too: it is never ignored.
Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments);

/// Whether the plugin's accounts are the same with both: users, whether associations are enforced and of whom, and the
/// known QoS.
inline bool is_same_for_accounts(const Settings& a, const Settings& b) {
    return a.users == b.users && a.is_enforced == b.is_enforced && a.qos == b.qos &&
           a.takes_parent_factors == b.takes_parent_factors && a.billing.factors.qos == b.billing.factors.qos;
}

/// How usage is kept.
inline Counting counting_of(const Settings& settings) {
    Counting counting{settings.decay == DecayKind::none ? Duration{} : settings.half_life, {}};
    if (counts_otherwise(settings)) {
        counting.rules = usage_rules(settings, billing_unit);
    }
    return counting;
}

}  // namespace weir::priority
