// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the leaf of a share tree that is charged for each job of a log. The tree is the site's, or is made as users
// appear. Must not know usage, priorities, nor where the tree was read.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

class LogShares {
  public:
    /// A payer: numbered from 0 in order of appearance, and stable through changes of the tree.
    using Party = std::uint32_t;

    /// Equal shares for all users; equal shares for all groups and for the users in each. Users are added as they
    /// appear.
    static LogShares of_users();
    static LogShares of_groups();
    /// A tree of the site's. A log's user N is names[N], else "uN"; its group N is the account accounts[N - 1], else
    /// "gN", where the tree has that, else the user's default account counts. A user who is not in the tree is
    /// `unassociated`.
    LogShares(ShareTree tree, std::map<std::uint32_t, std::string> names, std::vector<std::string> accounts = {});

    /// The payer of a job; may change the tree, see version(). O(log parties), O(tree) for a new party.
    Party party(const SimJob& job);
    NodeId leaf(Party party) const { return leaves_[party]; }
    std::span<const NodeId> leaves() const { return leaves_; }  ///< by party
    std::size_t parties() const { return parties_.size(); }
    const ShareTreePtr& tree() const { return tree_; }
    /// What a tree calls the user with this number.
    std::string user_name(std::uint32_t user) const;
    /// Increases with each change of the tree.
    std::uint64_t version() const { return version_; }
    /// Whether all parties are siblings with one share each; fair share of such a tree is an order by usage.
    bool is_flat() const { return kind_ == Kind::users; }

  private:
    enum class Kind : std::uint8_t { users, groups, given };
    struct Member {
        std::string account;  ///< empty: the user's default
        std::string user;
    };
    explicit LogShares(Kind kind);
    void add_account(const std::string& account);
    NodeId enter(const Member& member);
    void take(ShareTree tree);

    Kind kind_;
    ShareTreePtr tree_;
    std::map<std::uint32_t, std::string> names_;
    std::vector<std::string> accounts_;                               ///< made so far
    std::map<std::pair<std::uint32_t, std::uint32_t>, Party> by_id_;  ///< group (where it counts) and user
    std::vector<Member> parties_;
    std::vector<NodeId> leaves_;  ///< by party
    std::uint64_t version_ = 0;
};

}  // namespace weir
