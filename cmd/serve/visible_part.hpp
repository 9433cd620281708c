// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a user sees of a private instance of that which job-priority does not tell him itself. Pure. Must not know
// who views, nor how it is sent.
#pragma once
#include "cmd/common/share_view.hpp"
#include "cmd/pictures/instance_report.hpp"

namespace weir::cmd {

/// The rows of a tree as a guest was told it, with sums of others, among all that the facts hold. What others ran keeps
/// no path.
InstanceFacts visible_usage(const InstanceFacts& facts, const ShareView& visible);
/// Queues with their cores and counts of jobs; no instance in them, no job, and no text of an error.
InstanceBox visible_box(const InstanceBox& top);
/// Without job and user.
JobTerms nameless(JobTerms job);

}  // namespace weir::cmd
