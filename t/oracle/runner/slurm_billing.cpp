// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see slurm_billing.hpp.
#include "t/oracle/runner/slurm_billing.hpp"

#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
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
    const BillingRule rule = flags.find("MAX_TRES_GRES") != std::string::npos ? BillingRule::max_tres_gres
                             : flags.find("MAX_TRES") != std::string::npos    ? BillingRule::max_tres
                                                                              : BillingRule::sum;
    return parsed->cost(amounts, rule);
}

}  // namespace weir::oracle
