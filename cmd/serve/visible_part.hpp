// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a user sees of a private instance: his associations and what is above them, all else without a name. Pure.
// Must not know who views, nor how it is sent.
#pragma once
#include <string>

#include "cmd/common/share_view.hpp"
#include "cmd/pictures/instance_report.hpp"

namespace weir::cmd {

/// The name of a row that sums up all siblings that are not shown. No account can have it.
inline constexpr const char* others_name = "[others]";

/// The user's associations with the accounts above them, and below each of these one row for all else there. Author and
/// reason of the revision are left out. O(nodes).
ShareView visible_tree(const ShareView& view, const std::string& user);
/// The rows of a visible tree, which has rows for others, among all that the facts hold. What others ran keeps no path.
InstanceFacts visible_usage(const InstanceFacts& facts, const ShareView& visible);
/// Queues with their cores and counts of jobs; no instance in them, no job, and no text of an error.
InstanceBox visible_box(const InstanceBox& top);
/// Without job and user.
JobTerms nameless(JobTerms job);

}  // namespace weir::cmd
