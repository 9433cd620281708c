// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see rule_book.hpp.
#include "modules/job-route/rule_book.hpp"

#include <algorithm>

namespace weir::route {
namespace {

/// Of each rank, the first one with the same rules but for memory.
std::vector<int> preferences_of(std::vector<PartitionRules> rules) {
    std::vector<int> preferences;
    for (PartitionRules& one : rules) {
        one.memory.reset();
        preferences.push_back(static_cast<int>(std::find(rules.begin(), rules.end(), one) - rules.begin()));
    }
    return preferences;
}

}  // namespace

bool RuleBook::set(const std::vector<PartitionRules>& rules) {
    std::vector<PartitionRules> different;
    const auto add = [&different](const PartitionRules& one) {
        if (std::find(different.begin(), different.end(), one) == different.end()) {
            different.push_back(one);
        }
    };
    std::for_each(rules.begin(), rules.end(), add);
    add({});
    if (different == rules_) {
        return false;
    }
    rules_ = std::move(different);
    preferences_ = preferences_of(rules_);
    kinds_.clear();
    met_.clear();
    return true;
}

int RuleBook::rank_of(const PartitionRules& rules) const {
    const auto find = [this](const PartitionRules& wanted) {
        return static_cast<int>(std::find(rules_.begin(), rules_.end(), wanted) - rules_.begin());
    };
    const int rank = find(rules);
    return rank < static_cast<int>(rules_.size()) ? rank : find({});
}

int RuleBook::kind_of(const JobFacts& job, std::uint32_t userid) {
    Met met;
    for (const PartitionRules& rules : rules_) {
        met.push_back(!misfit_of(rules, job, userid));
    }
    const auto [found, is_new] = kinds_.try_emplace(met, static_cast<int>(met_.size()));
    if (is_new) {
        met_.push_back(std::move(met));
    }
    return found->second;
}

}  // namespace weir::route
