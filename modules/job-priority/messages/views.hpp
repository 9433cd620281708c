// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the answers of the read-only RPCs: the tree with usage, the queue, one job's priority in words.
// Must not know: requests, permissions. The payloads are listed in README.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The limit of the share tree or the cap of the policy that holds a pending job back, in words; empty if none does.
std::string held_back_by(const PriorityService& service, FluxJobId id);
/// The memo of a pending job that is held or held back; empty if it is neither.
std::string why_held(const PriorityService& service, FluxJobId id);
/// Pending jobs by node, as they were last resolved; an account's are its users'. O(jobs + nodes).
std::vector<long long> pending_by_node(const PriorityService& service);
/// job-priority.tree-get
Json tree_view(const PriorityService& service, Instant now);
/// job-priority.history
Json history_view(const PriorityService& service);
/// job-priority.usage
Json usage_view(const PriorityService& service, Instant now);
/// job-priority.weights
Json weights_view(const PriorityService& service);
/// job-priority.share-explain: an association's path, level by level, and what holds it down (libfairshare/explain); of
/// an account its path, what is below it and who of those goes first. `reference`: its path, "account/@user" with an
/// account by its last component, a user's name (the default account) or an account's; a user whom an `@*` line would
/// admit has the rank of his first job. Errors: ENOENT, EINVAL with a sentence.
Result<Json> share_explain_view(const PriorityService& service, const std::string& reference, Instant now);
/// job-priority.share-compare: where two associations' paths differ, and why one is ahead. Errors: the same, and EINVAL
/// for an account.
Result<Json> share_compare_view(const PriorityService& service, const std::string& a, const std::string& b,
                                Instant now);
/// The `changes` of job-priority.tree-set.
Json changes_view(const std::vector<TreeChange>& list);
/// job-priority.tree-diff: the changes from revision `a` to `b`, and the revisions that made them, in their order.
Json tree_diff_view(const TreeStore& trees, std::int64_t a, std::int64_t b, const std::vector<TreeChange>& changes);

/// Which pending jobs are listed.
struct ListQuery {
    std::size_t limit = 0;  ///< 0: all
    std::optional<std::uint32_t> userid;
    std::string match;  ///< not empty: those whose user or account contains it
    bool is_all() const { return !userid && match.empty(); }
};
/// job-priority.list: pending jobs in the order of their priorities, each with `rank` `of` those in its own queue.
/// O(jobs + limit log limit) where the query is_all(), else O(jobs log jobs).
Json list_view(const PriorityService& service, Instant now, const ListQuery& query);
/// job-priority.places: of each of `ids` that waits [id, rank, of], as in list_view().
Json places_view(const PriorityService& service, Instant now, const std::set<FluxJobId>& ids);
/// job-priority.when: the next times at which one of two pending jobs passes the other. Errors: as explain.
Result<Json> when_view(const PriorityService& service, FluxJobId a, FluxJobId b, Instant now);
/// job-priority.explain. Errors: ENOENT for a job that is not active here.
Result<Json> explain_view(const PriorityService& service, FluxJobId id, Instant now);

}  // namespace weir::priority
