// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the figures of named rows of the share tree, for clients that have the rows and request the figures each
// second. It reads the last evaluation and evaluates nothing. The text is written without a JSON tree, which would take
// most of the time.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/messages/visible_part.hpp"

namespace weir::priority {

/// Rows of one answer.
inline constexpr std::size_t share_figures_max = 5000;

/// {`more`'s members, revision, of, all_core_s, figures: [[shares, entitled, used, usage_core_s, level_fs, factor,
/// running_cores, pending_jobs], …]}: one for each path, in their order; null for one that the part does not have or
/// the last evaluation does not know. `of`: nodes of the tree; `all_core_s`: usage of all. A level_fs that is infinite
/// is null, as is the factor of an account that has none. O(jobs + paths log size).
std::string share_figures_text(const VisiblePart& part, const std::vector<std::string>& paths, Json more);

}  // namespace weir::priority
