// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the read-only RPCs answer: the tree with usage, the queue, one job's priority in words.
// Must not know: requests, permissions. The payloads are listed in README.md.
#pragma once
#include <cstdint>
#include <optional>

#include "libfairshare/json/json.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// job-priority.tree-get
Json tree_view(PriorityService& service, Instant now);
/// job-priority.history
Json history_view(const PriorityService& service);
/// job-priority.usage
Json usage_view(PriorityService& service, Instant now);
/// job-priority.weights
Json weights_view(const PriorityService& service);
/// The `changes` of job-priority.tree-set.
Json changes_view(const TreeProposal& proposal);

/// job-priority.list: pending jobs in queue order. limit 0: all.
Json list_view(PriorityService& service, Instant now, std::size_t limit, std::optional<std::uint32_t> userid);
/// job-priority.explain. Errors: ENOENT for a job that is not active here.
Result<Json> explain_view(PriorityService& service, FluxJobId id, Instant now);

}  // namespace weir::priority
