// SPDX-License-Identifier: LGPL-3.0-only
// Owns: bills in Slurm's words. Must not know how a bill is made.
#pragma once
#include <string>

namespace weir::oracle {

/// What a second of a job costs. weights: TRESBillingWeights; tres: "cpu=4,mem=4G,node=1", "billing" is left out;
/// flags: PriorityFlags, or MAX_TRES, MAX_TRES_GRES, anything else. Throws for weights that are none.
double slurm_cost(const std::string& weights, const std::string& tres, const std::string& flags);

}  // namespace weir::oracle
