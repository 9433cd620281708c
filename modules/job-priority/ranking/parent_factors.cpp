// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the look-up. See parent_factors.hpp.
#include "modules/job-priority/ranking/parent_factors.hpp"

#include <algorithm>
#include <initializer_list>

namespace weir::priority {

std::uint32_t ParentFactors::index_for(const Names& names) {
    const auto [entry, is_new] = index_.try_emplace(Key(names), static_cast<std::uint32_t>(factors_.size()));
    if (is_new) {
        factors_.push_back(0.);
    }
    return entry->second;
}

void ParentFactors::take(const std::vector<FactorRow>& rows, bool is_complete) {
    if (is_complete) {
        std::fill(factors_.begin(), factors_.end(), 0.);  // indices stay: jobs hold them
    }
    for (const FactorRow& row : rows) {
        const std::string user = row.userid ? std::to_string(*row.userid) : row.user;
        const std::size_t slash = row.account.rfind('/');
        const double factor = std::clamp(row.factor, 0., 1.);
        factors_[index_for({user, row.account})] = factor;
        if (slash != std::string::npos) {
            factors_[index_for({user, std::string_view(row.account).substr(slash + 1)})] = factor;
        }
        if (row.is_default) {
            factors_[index_for({user, ""})] = factor;
        }
    }
}

std::uint32_t ParentFactors::index(std::uint32_t userid, const std::string& user, const std::string& account) const {
    const std::string decimal = std::to_string(userid);
    for (const std::string_view name : {std::string_view(decimal), std::string_view(user), std::string_view("*")}) {
        if (const auto found = index_.find(Names{name, account}); found != index_.end()) {
            return found->second;
        }
    }
    return 0;
}

}  // namespace weir::priority
