// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the answers of the read-only RPCs: the tree with usage, the queue, one job's priority in words, each of the
// part that the asker may see. Must not know: requests, who asks. The payloads are listed in README.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/messages/visible_part.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// The limit of the share tree or the cap of the policy that holds a pending job back, in words; empty if none does.
std::string held_back_by(const PriorityService& service, FluxJobId id);
/// Why nobody would pay for a job that is held back for it, in words (Payers::refusal()); empty: it is not.
std::string refusal_of(const PriorityService& service, FluxJobId id);
/// The memo of a pending job that is held or held back; empty if it is neither.
std::string why_held(const PriorityService& service, FluxJobId id);
/// The number of pending jobs by node, by their payers; an account has those of its users. O(jobs + nodes).
std::vector<long long> pending_by_node(const PriorityService& service);
/// job-priority.tree-get. A sum of others has the kind "sum". Text, author and reason are for viewers who see all.
Json tree_view(const VisiblePart& part, Instant now);
/// job-priority.history
Json history_view(const VisiblePart& part);
/// job-priority.usage
Json usage_view(const VisiblePart& part, Instant now);
/// job-priority.weights
Json weights_view(const VisiblePart& part);
/// job-priority.share-explain: an association's path, level by level, and what lowers it (libfairshare/explain); of an
/// account its path, the nodes below it and which of them comes first. `reference`: its path, "account/@user" with an
/// account by its last component, a user's name (the default account) or an account's; a user whom an `@*` line would
/// admit has the rank of his first job. Errors: ENOENT, EINVAL with a sentence; ENOENT if the part does not have it.
Result<Json> share_explain_view(const VisiblePart& part, const std::string& reference, Instant now);
/// job-priority.share-compare: where two associations' paths differ, and why one is ahead. Errors: the same, and EINVAL
/// for an account.
Result<Json> share_compare_view(const VisiblePart& part, const std::string& a, const std::string& b, Instant now);
/// A hypothetical job: its cores, and how long it holds them.
struct ThoughtJob {
    std::uint32_t cores = 0;
    Duration length{};
};
/// job-priority.share-after: where an association stands now, and where it would stand if it were charged for the job
/// at once, as the site counts a job of the leaf's QoS and queue: {path, entitled, used, used_after, factor,
/// factor_after, rank, rank_after, associations}. Nothing is changed. Errors: those of share-explain; EINVAL for an
/// account.
Result<Json> share_after_view(const VisiblePart& part, const std::string& reference, const ThoughtJob& job,
                              Instant now);
/// The `changes` of job-priority.tree-set.
Json changes_view(const std::vector<TreeChange>& list);
/// job-priority.tree-diff: the changes from revision `a` to `b`, and the revisions that made them, in their order.
/// Of a part the changes of its own nodes.
Json tree_diff_view(const VisiblePart& part, std::int64_t a, std::int64_t b, std::vector<TreeChange> changes);

/// Which pending jobs are listed.
struct ListQuery {
    std::size_t limit = 0;  ///< 0: all
    std::optional<std::uint32_t> userid;
    std::string match;                   ///< not empty: those whose user or account contains it
    std::optional<std::string> queue{};  ///< those of this queue; "": of none
    bool is_all() const { return !userid && match.empty() && !queue; }
};
/// job-priority.list: pending jobs in the order of their priorities, those that are held back last, each with `rank`
/// `of` those in its own queue. For a part its user's jobs, and the number of all. O(jobs + limit log limit) where the
/// query is_all(), else O(jobs log jobs).
Json list_view(const VisiblePart& part, Instant now, const ListQuery& query);
/// job-priority.places: for each pending job of `ids` [id, rank, of, priority, is_held_back], as in list_view().
Json places_view(const VisiblePart& part, Instant now, const std::set<FluxJobId>& ids);
/// job-priority.when: the next times at which one of two pending jobs passes the other. Errors: as explain.
Result<Json> when_view(const VisiblePart& part, FluxJobId a, FluxJobId b, Instant now);
/// job-priority.explain. Of the jobs ahead those that are not in the part have the id null and no name. Errors: ENOENT,
/// in the same words, for a job that is not active here and for one that is not in the part.
Result<Json> explain_view(const VisiblePart& part, FluxJobId id, Instant now);

}  // namespace weir::priority
