// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see log_shares.hpp.
#include "libsched/sim/log_shares.hpp"

#include <algorithm>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir {

LogShares::LogShares(Kind kind) : kind_(kind), tree_(std::make_shared<ShareTree>()) {
    if (kind == Kind::users) {
        add_account("log");
    }
}

LogShares LogShares::of_users() {
    return LogShares(Kind::users);
}

LogShares LogShares::of_groups() {
    return LogShares(Kind::groups);
}

LogShares::LogShares(ShareTree tree, std::map<std::uint32_t, std::string> names, std::vector<std::string> accounts)
    : kind_(Kind::given),
      tree_(std::make_shared<ShareTree>(std::move(tree))),
      names_(std::move(names)),
      accounts_(std::move(accounts)) {}

void LogShares::take(ShareTree tree) {
    tree_ = std::make_shared<ShareTree>(std::move(tree));
    version_++;
}

void LogShares::add_account(const std::string& account) {
    if (std::find(accounts_.begin(), accounts_.end(), account) != accounts_.end()) {
        return;
    }
    accounts_.push_back(account);
    std::vector<NodeSpec> specs;
    for (const std::string& name : accounts_) {
        for (const char* behind : {"", "/@*"}) {
            NodeSpec spec;
            spec.name = name + behind;
            specs.push_back(std::move(spec));
        }
    }
    auto built = build_share_tree(specs);
    WEIR_CHECK(std::holds_alternative<ShareTree>(built));
    take(std::get<ShareTree>(built).with_members_of(*tree_));
    for (Party party = 0; party < parties_.size(); party++) {  // ids are another tree's
        leaves_[party] = enter(parties_[party]);
    }
}

NodeId LogShares::enter(const Member& member) {
    const auto found = tree_->association(member.account, member.user);
    if (!found) {
        return unassociated;
    }
    if (found->leaf) {
        return *found->leaf;
    }
    auto grown = tree_->with_member(found->account, member.user);
    if (!grown) {
        return unassociated;
    }
    take(std::move(grown->first));
    return grown->second;
}

std::string LogShares::user_name(std::uint32_t user) const {
    const auto name = names_.find(user);
    return name == names_.end() ? "u" + std::to_string(user) : name->second;
}

LogShares::Party LogShares::party(const SimJob& job) {
    const std::uint32_t group = kind_ == Kind::users ? 0 : job.group;
    const auto [known, is_new] = by_id_.try_emplace({group, job.user}, static_cast<Party>(parties_.size()));
    if (!is_new) {
        return known->second;
    }
    Member member{"", user_name(job.user)};
    const bool is_named = kind_ == Kind::given && group > 0 && group <= accounts_.size();
    const std::string account = is_named ? accounts_[group - 1] : "g" + std::to_string(group);
    if (kind_ == Kind::groups) {
        add_account(account);
        member.account = account;
    } else if (kind_ == Kind::users) {
        member.account = "log";
    } else if (group != 0 && tree_->account(account).has_value()) {
        member.account = account;
    }
    leaves_.push_back(enter(member));
    parties_.push_back(std::move(member));
    return known->second;
}

}  // namespace weir
