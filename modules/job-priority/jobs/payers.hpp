// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the payer that a job would have in the current share tree. A query changes nothing: a user whom an `@*` line
// would admit is distinguished from a member, and only Ledgers::admit() admits him. Must not know: usage,
// priorities.
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

/// A payer: an association, and its user's name in the tree.
struct Payer {
    Association association;  ///< without leaf: an `@*` line would admit the user
    std::string user;
};

class Payers {
  public:
    /// \param users  a cache of look-ups   Both outlive this.
    Payers(UserNames& users, const JobBook& book) : users_(users), book_(book) {}

    /// The tree has changed: users' groups are looked up only if a node of it is a group, and who has an association
    /// may depend on more than user and account. O(nodes).
    void set_tree(const ShareTree& tree);

    /// Nothing if the payer would be `unassociated`: there is no association; the user cannot be looked up; or the job
    /// is a partition, which is idle time from its start on and makes no leaf for its owner. O(depth x the user's
    /// lines).
    std::optional<Payer> would_pay(const ShareTree& tree, const BookJob& job) const;
    /// Increases whenever would_pay() may find another payer for the same job in the same tree.
    std::uint64_t version() const { return users_.version(); }
    /// The name of the user whose share the job uses.
    std::string user_of(const BookJob& job) const { return users_.name(job.charged_userid()); }
    /// Why the job would be refused if it were submitted now to an instance that enforces associations: its user or its
    /// account is not in the tree. Empty if it would not, if the user cannot be looked up, and for the owner's jobs
    /// without an account. Like the plugin, it refuses no job for its group, queue or QoS.
    std::string refusal(const ShareTree& tree, const BookJob& job) const;
    /// would_pay() for a job inside `child`, by its record. Also nothing for an unknown user, and if a guest's child
    /// names another user than the guest.
    std::optional<Payer> would_pay_inside(const ShareTree& tree, const BookJob& child, const UplinkRow& record) const;
    /// The queue of a job inside `child`: the one that its user submitted it to, if a child of the instance's owner
    /// reports it; else the child's queue.
    const std::string& queue_inside(const BookJob& child, const UplinkRow& record) const;
    /// Its QoS, with the same rule.
    const std::string& qos_inside(const BookJob& child, const UplinkRow& record) const;
    /// Its project, with the same rule: a guest could name any project, and a new one with each report.
    const std::string& project_inside(const BookJob& child, const UplinkRow& record) const;
    /// The (account, user) that `@*` lines would admit for the submissions of a backlog that became eligible unchanged.
    /// O(events).
    std::vector<std::pair<NodeId, std::string>> newcomers(const ShareTree& tree,
                                                          std::span<const JobEvent> events) const;

  private:
    std::optional<Payer> find(const ShareTree& tree, Credentials job, std::optional<std::uint32_t> userid) const;
    std::optional<Payer> find_asked(const ShareTree& tree, const JobRequest& request, std::uint32_t userid) const;

    UserNames& users_;
    const JobBook& book_;
    bool has_groups_ = false;          ///< some node of the tree is a group
    bool has_plain_defaults_ = false;  ///< no line of the tree depends on a job's group, queue or QoS
};

}  // namespace weir::priority
