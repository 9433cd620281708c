// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who would pay for a job, by the share tree as it is. Asking changes nothing: a user whom an `@*` line would
// admit is told apart from a member, and admitted by Accounting::admit() alone. Must not know: usage, priorities.
// Source: doc/adr/0120.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/tree/payer.hpp"
#include "modules/job-priority/jobs/job_book.hpp"
#include "modules/job-priority/jobs/user_names.hpp"
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

/// Who would pay: an association, and its user's name in the tree.
struct Payer {
    Association association;  ///< without leaf: an `@*` line would admit the user
    std::string user;
};

class Payers {
  public:
    /// \param users  a cache of look-ups   Both outlive this.
    Payers(UserNames& users, const JobBook& book) : users_(users), book_(book) {}

    /// Another tree is in force: users' groups are looked up where a node of it is a group. O(nodes).
    void set_tree(const ShareTree& tree);

    /// Nothing where `unassociated` would pay: there is no association; the user cannot be looked up; or the job is a
    /// partition, which is idle from its start on and gives its owner no leaf. O(depth x the user's lines).
    std::optional<Payer> would_pay(const ShareTree& tree, const BookJob& job) const;
    /// The same for a job inside `child`, as its record tells. Nothing, too, for a user whom nobody knows, and where a
    /// guest's child names another user than him.
    std::optional<Payer> would_pay_inside(const ShareTree& tree, const BookJob& child, const UplinkRow& record) const;
    /// Who would be admitted by the submissions of a backlog that become eligible as they were submitted:
    /// (account, user). O(events).
    std::vector<std::pair<NodeId, std::string>> newcomers(const ShareTree& tree,
                                                          std::span<const JobEvent> events) const;

  private:
    std::optional<Payer> find(const ShareTree& tree, Credentials job, std::optional<std::uint32_t> userid) const;
    std::optional<Payer> find_asked(const ShareTree& tree, const JobRequest& request, std::uint32_t userid) const;

    UserNames& users_;
    const JobBook& book_;
    bool has_groups_ = false;  ///< some node of the tree is a group
};

}  // namespace weir::priority
