// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see priority_order.hpp.
#include "libsched/sim/priority_order.hpp"

#include <algorithm>
#include <limits>

#include "libsched/sim/limited_order.hpp"
#include "libsched/sim/replay_order.hpp"

namespace weir {
namespace {

Error cannot(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

Result<std::unique_ptr<QueueOrder>> make_unlimited(const PolicySettings& settings, std::int64_t machine_cores,
                                                   LogShares shares, SiteValuesPtr site, const LogNames& names) {
    const auto cores = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(machine_cores, 1, std::numeric_limits<std::uint32_t>::max()));
    if (settings.policy == PolicyKind::fcfs) {
        return std::unique_ptr<QueueOrder>{};
    }
    if (settings.policy == PolicyKind::multifactor) {
        if (const auto algorithm = algorithm_named(settings.algorithm); !algorithm) {
            return algorithm.error();
        }
        if (settings.algorithm == "dynamic-user") {
            return cannot("algorithm = \"dynamic-user\" uses LSF's count of usage: set policy = \"lsf\"");
        }
    }
    return order::with_order_of(
        settings.policy, [&]<typename O>(std::in_place_type_t<O>) -> std::unique_ptr<QueueOrder> {
            return std::make_unique<ReplayOrder<O>>(settings, cores, std::move(shares), std::move(site), names);
        });
}

}  // namespace

Result<std::unique_ptr<QueueOrder>> make_priority_order(const PolicySettings& settings, std::int64_t machine_cores,
                                                        LogShares shares, SiteValuesPtr site, const LogNames& names) {
    auto order = make_unlimited(settings, machine_cores, shares, std::move(site), names);
    if (!order || !has_limits(*shares.tree())) {
        return order;
    }
    if (settings.decay == DecayKind::window) {
        return cannot(
            "decay = \"window\" keeps no usage that the limits of the share tree count: set decay = \"half-life\"");
    }
    return std::unique_ptr<QueueOrder>(std::make_unique<LimitedOrder>(settings, std::move(shares), std::move(*order)));
}

SiteFacts log_facts(bool has_site_values) {
    SiteFacts facts;
    facts.resources = std::set<std::string>{"cores", "nodes"};
    facts.has_site_values = has_site_values;
    facts.knows_nodes = false;
    facts.knows_urgency = false;
    facts.knows_memory = false;
    return facts;
}

}  // namespace weir
