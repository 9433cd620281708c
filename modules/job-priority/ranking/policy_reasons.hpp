// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a pending job stands where it stands under a policy other than multifactor, and how long it will.
// Must not know: JSON, who asks.
#pragma once
#include <cstddef>
#include <string>

#include "modules/job-priority/ranking/ranking.hpp"

namespace weir::priority {

/// The pending jobs at one instant, with what was measured of the tree then.
struct RankedScene {
    const Ranking& ranking;
    const ShareTree& tree;
    const Measured& measured;
    Instant now;
};

/// What a pending job's place comes from; nothing of held and expedited ones.
OrderTerms explain_order(const RankedScene& scene, FluxJobId id);
/// Why `other` stands above `own`; empty where one of them is held or expedited. O(nodes).
std::string order_lead(const RankedScene& scene, FluxJobId own, FluxJobId other);
/// When one of two pending jobs passes the other, all but time as it is now; within a year, `limit` times at most.
/// REQUIRES: both wait; the policy is not multifactor.
Passings passings_of(const RankedScene& scene, FluxJobId a, FluxJobId b, std::size_t limit);
/// The cap of the policy that holds a job back, in words; empty where none is known.
std::string cap_of(const Ranking& ranking, FluxJobId id);

}  // namespace weir::priority
