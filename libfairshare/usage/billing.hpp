// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the cost of a job: weights on named resources, summed or by the most expensive one, and factors by QoS and
// queue.
// Must not know: jobs, ledgers, what a resource is beyond its name. Source: Slurm's TRESBillingWeights, MAX_TRES,
// MAX_TRES_GRES and UsageFactor; 22.05.8 as run.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir {

/// An amount of a resource, of the whole job: "cpu" (cores), "mem" (MiB), "node", "gres/gpu" or any "gres/NAME",
/// "license/NAME", "energy", or any other name in lower case.
struct ResourceAmount {
    std::string name;
    double amount = 0;  ///< >= 0
};

enum class BillingRule {
    sum,            ///< of amount x weight over all
    max_tres,       ///< the most expensive of those on nodes (cpu, mem, node, every gres), plus the sum of the others
    max_tres_gres,  ///< the most expensive of cpu, mem and node, plus the sum of the others
};
/// "sum", "max-tres", "max-tres-gres". Errors: EINVAL with the list.
Result<BillingRule> billing_rule_named(std::string_view name);

class BillingWeights {
  public:
    /// No weights: a job costs its cores.
    BillingWeights() = default;
    /// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0": names in any case of letters; a letter K, M, G, T or P behind a weight makes
    /// it one for so many bytes ("mem" and "bb/...") or so many pieces (1 K = 1024).
    /// Errors: EINVAL with the entry and what is wrong about it.
    static Result<BillingWeights> parse(std::string_view text);

    bool empty() const { return weights_.empty(); }
    /// Cost of a second, >= 0 if the weights are. Resources without a weight cost nothing. O(amounts x log weights).
    double cost(std::span<const ResourceAmount> amounts, BillingRule rule = BillingRule::sum) const;

    friend bool operator==(const BillingWeights&, const BillingWeights&) = default;

  private:
    std::map<std::string, double, std::less<>> weights_;  // by unit of ResourceAmount
};

/// The factor on a job's cost: 1 normally, 0 for free work (that may be preempted), above 1 for expensive service.
struct UsageFactors {
    std::map<std::string, double, std::less<>> qos;    ///< finite, >= 0; a name that is absent: 1
    std::map<std::string, double, std::less<>> queue;  ///< the same

    /// Their product.
    double of(std::string_view qos_name, std::string_view queue_name) const;
    friend bool operator==(const UsageFactors&, const UsageFactors&) = default;
};

}  // namespace weir
