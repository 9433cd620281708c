// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who of a log pays by which leaf of a share tree: a tree of the site's, or one made as users appear. Must not
// know usage, priorities, nor where the tree was read.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "libsched/sim/sim_job.hpp"

namespace weir {

class LogShares {
  public:
    /// Somebody who pays: counted from 0 as they appear, the same whatever becomes of the tree.
    using Party = std::uint32_t;

    /// Every user an equal share; every group an equal share and every user of it one. Nobody is known beforehand.
    static LogShares of_users();
    static LogShares of_groups();
    /// A tree of the site's. A log's user N is names[N], else "uN"; its group N is the account accounts[N - 1], else
    /// "gN", where the tree has that, else the user's default account counts. Who stands nowhere in the tree is
    /// `unassociated`.
    LogShares(ShareTree tree, std::map<std::uint32_t, std::string> names, std::vector<std::string> accounts = {});

    /// Whose job this is; may take another tree, see version(). O(log parties), O(tree) for who is new.
    Party party(const SimJob& job);
    NodeId leaf(Party party) const { return leaves_[party]; }
    std::size_t parties() const { return parties_.size(); }
    const ShareTreePtr& tree() const { return tree_; }
    /// As given with the tree.
    const std::map<std::uint32_t, std::string>& names() const { return names_; }
    /// Rises with every other tree.
    std::uint64_t version() const { return version_; }
    /// Whether all parties are siblings with one share each: what such a tree needs of fair share is an order.
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
