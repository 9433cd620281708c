// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the worked numbers of Slurm's page on priorities. Must not know a formula.
#include <stdexcept>

#include "libfairshare/usage/billing.hpp"
#include "libsched/priority/factors.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {

namespace {

/// Partitions' own priorities, and what of the weight a job in each gets; "..._no_norm" without normalising.
void read_partitions(const json_t* inputs, const json_t* expected, double tol, Report& report) {
    const double weight = number_at(inputs, "PriorityWeightPartition");
    std::vector<double> priorities;
    std::vector<std::string> names;
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(member(inputs, "factors")), name, value) {
        names.emplace_back(name);
        priorities.push_back(json_number_value(value));
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
void read_billing(const json_t* inputs, const json_t* expected, BillingRule rule, double tol, Report& report) {
    std::string text;
    const char* name = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(member(inputs, "weights")), name, value) {
        const std::string key = name;
        text += (text.empty() ? "" : ",") + (key == "memG" ? "mem" : key) + "=" +
                std::to_string(json_number_value(value)) + (key == "memG" ? "G" : "");
    }
    const auto weights = BillingWeights::parse(text);
    if (!weights) {
        throw std::runtime_error{weights.error().message};
    }
    const json_t* jobs =
        json_object_get(inputs, "jobs") != nullptr ? json_object_get(inputs, "jobs") : member(inputs, "jobs_printed");
    const json_t* job = nullptr;
    std::size_t i = 0;
    json_array_foreach(jobs, i, job) {
        const std::vector<ResourceAmount> amounts{{"cpu", json_number_value(json_array_get(job, 0))},
                                                  {"mem", json_number_value(json_array_get(job, 1)) * 1024}};
        report.number("billing", json_number_value(json_array_get(member(expected, "billing"), i)),
                      weights->cost(amounts, rule), tol);
    }
}

}  // namespace

void read_slurm_documented(const json_t* document, Report& report) {
    const json_t* row = nullptr;
    std::size_t i = 0;
    json_array_foreach(member(document, "cases"), i, row) {
        const std::string id = text_at(row, "id");
        report.begin(id);
        const json_t* inputs = member(row, "inputs");
        const json_t* expected = member(row, "expected");
        const double tol = number_at(row, "tol");
        if (json_object_get(inputs, "PriorityWeightPartition") != nullptr) {
            read_partitions(inputs, expected, tol, report);
        } else if (json_object_get(expected, "billing") != nullptr) {
            const bool is_max = id.find("max") != std::string::npos;
            read_billing(inputs, expected, is_max ? BillingRule::max_tres : BillingRule::sum, tol, report);
        } else {
            throw std::runtime_error{"a case of another kind: " + id};
        }
    }
}

}  // namespace weir::oracle
