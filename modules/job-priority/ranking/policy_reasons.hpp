// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the reasons for a pending job's place under a policy other than multifactor, and how long it keeps the place.
// Must not know: JSON, who asks.
#pragma once
#include <cstddef>
#include <string>

#include "modules/job-priority/ranking/ranking.hpp"

namespace weir::priority {

/// The pending jobs at one instant, with the measured usage of the tree then.
struct RankedScene {
    const Ranking& ranking;
    const ShareTree& tree;
    const Measured& measured;
    Instant now;
};

/// The terms of a pending job's place; nothing for a held or expedited one.
OrderTerms explain_order(const RankedScene& scene, FluxJobId id);
/// Why `other` is ahead of `own`; empty if one of them is held or expedited. O(nodes).
std::string order_lead(const RankedScene& scene, FluxJobId own, FluxJobId other);
/// When one of two pending jobs passes the other if only time changes; within a year, at most `limit` times. REQUIRES:
/// both are pending; the policy is not multifactor.
Passings passings_of(const RankedScene& scene, FluxJobId a, FluxJobId b, std::size_t limit);
/// The cap of the policy that holds a job back, in words; empty where none is known.
std::string cap_of(const Ranking& ranking, FluxJobId id);

}  // namespace weir::priority
