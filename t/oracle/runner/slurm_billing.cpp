// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_billing.hpp.
#include "t/oracle/runner/slurm_billing.hpp"

#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

double slurm_cost(const std::string& weights, const std::string& tres, const std::string& flags) {
    const auto parsed = BillingWeights::parse(weights);
    if (!parsed) {
        throw std::runtime_error{parsed.error().message};
    }
    std::vector<ResourceAmount> amounts;
    for (const auto& [name, amount] : tres_list(tres)) {
        if (name != "billing") {
            amounts.push_back({name, amount});
        }
    }
    const slurm::PriorityFlags set = slurm::priority_flags(flags);
    const BillingRule rule = set.max_tres_gres ? BillingRule::max_tres_gres
                             : set.max_tres    ? BillingRule::max_tres
                                               : BillingRule::sum;
    return parsed->cost(amounts, rule);
}

}  // namespace weir::oracle
