// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the worked numbers of Slurm's page on priorities. Must not know a formula.
#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
#include "libsched/priority/factors.hpp"
#include "t/oracle/runner/cases.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// Partitions' own priorities, and what of the weight a job in each gets; "..._no_norm" without normalising.
void read_partitions(const Value* inputs, const Value* expected, double tol, Report& report) {
    const double weight = number_at(inputs, "PriorityWeightPartition");
    std::vector<double> priorities;
    std::vector<std::string> names;
    for (const auto& [name, value] : entries(member(inputs, "factors"))) {
        names.emplace_back(name);
        priorities.push_back(number_of(value));
    }
    for (const bool is_raw : {false, true}) {
        const auto factors = class_factors(priorities, is_raw);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string key = names[i] + (is_raw ? "_no_norm" : "");
            report.number(key, number_at(expected, key.c_str()), weight * factors[i], tol);
        }
    }
}

/// Jobs as [cpus, GiB].
void read_billing(const Value* inputs, const Value* expected, BillingRule rule, double tol, Report& report) {
    std::string text;
    for (const auto& [name, value] : entries(member(inputs, "weights"))) {
        const std::string key = name;
        text += (text.empty() ? "" : ",") + (key == "memG" ? "mem" : key) + "=" + std::to_string(number_of(value)) +
                (key == "memG" ? "G" : "");
    }
    const auto weights = BillingWeights::parse(text);
    if (!weights) {
        throw std::runtime_error{weights.error().message};
    }
    const Value* jobs = find(inputs, "jobs") != nullptr ? find(inputs, "jobs") : member(inputs, "jobs_printed");
    for (std::size_t i = 0; i < size_of(jobs); ++i) {
        const Value* job = item(jobs, i);
        const std::vector<ResourceAmount> amounts{{"cpu", number_of(item(job, 0))},
                                                  {"mem", number_of(item(job, 1)) * 1024}};
        report.number("billing", number_of(item(member(expected, "billing"), i)), weights->cost(amounts, rule), tol);
    }
}

}  // namespace

void read_slurm_documented(const Value* document, Report& report) {
    for_each_case(document, report, [](const Case& one, Report& into) {
        if (one.has("PriorityWeightPartition")) {
            read_partitions(one.inputs, one.expected, one.tol, into);
        } else if (find(one.expected, "billing") != nullptr) {
            const bool is_max = one.id.find("max") != std::string::npos;
            read_billing(one.inputs, one.expected, is_max ? BillingRule::max_tres : BillingRule::sum, one.tol, into);
        } else {
            throw std::runtime_error{"a case of another kind"};
        }
    });
}

}  // namespace weir::oracle
