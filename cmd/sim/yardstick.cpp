// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the parties of a log.
#include "cmd/sim/yardstick.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"

namespace weir::cmd {

void measure_equal_shares(Yardstick& yardstick, const std::vector<SimJob>& jobs) {
    yardstick.users = parties_by_user(jobs);
    yardstick.accounts = parties_by_group(jobs);
    // A log whose groups have hardly more than one user has no useful accounts.
    if (yardstick.accounts.parties.size() <= 2 ||
        yardstick.accounts.parties.size() * 2 > yardstick.users.parties.size()) {
        yardstick.accounts = yardstick.users;
    }
    yardstick.accounts_level = 0;
    yardstick.users_level = 0;
}

void measure_share_tree(Yardstick& yardstick, const std::vector<SimJob>& jobs, const std::string& path,
                        LogShares shares) {
    std::vector<LogShares::Party> parties;
    for (const SimJob& job : jobs) {
        parties.push_back(shares.party(job));
    }
    const ShareTree& tree = *shares.tree();  // with all members by `@*` lines
    PartyTree accounts;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const NodeId id{i};
        const bool is_rule = tree.kind(id) == NodeKind::any_member;  // it is no party: its members have the shares
        accounts.parties.push_back({tree.path(id), tree.level_parent(id).value, is_rule ? 0 : tree.shares(id)});
    }
    const auto nobodys = static_cast<std::uint32_t>(accounts.parties.size());
    for (const LogShares::Party party : parties) {
        const NodeId leaf = shares.leaf(party);
        accounts.payer.push_back(leaf == unassociated ? nobodys : leaf.value);
    }
    if (std::find(accounts.payer.begin(), accounts.payer.end(), nobodys) != accounts.payer.end()) {
        accounts.parties.push_back({"(nobody's)", 0, 0});
    }
    accounts.compared_below = accounts.first_fork();
    const auto depths = accounts.depths();
    yardstick.share_tree = file_name(path);
    yardstick.accounts_level = depths[accounts.compared_below];
    yardstick.users_level = *std::max_element(depths.begin(), depths.end()) - 1;
    yardstick.users = accounts;
    yardstick.accounts = std::move(accounts);
}

}  // namespace weir::cmd
