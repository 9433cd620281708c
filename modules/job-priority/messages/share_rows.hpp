// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of the share tree that fits a screen, for views that are requested again and again. It reads the last
// evaluation and evaluates nothing. Must not draw.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/messages/visible_part.hpp"

namespace weir::priority {

inline constexpr std::size_t share_rows_max = 2000;

/// The order of siblings: as listed; by name; or the greatest first.
enum class RowOrder { listed, name, used, ratio, running, waiting };
/// "tree", "name", "used", "ratio", "running", "waiting".
std::optional<RowOrder> row_order_of(std::string_view name);

struct RowsQuery {
    std::size_t limit = 500;     ///< rows, 1 to share_rows_max
    std::set<std::string> open;  ///< paths whose children are shown
    std::set<std::string> shut;  ///< paths whose children are not
    std::string match;           ///< not empty: nodes whose name contains this, and what is above them
    RowOrder order = RowOrder::listed;
};

/// {revision, evaluated_at, rows: [{path, kind, entitled, used, level_fs, factor, running_cores, shares,
/// pending_jobs, has_below, is_open}], of, left_out}. Parents come before their children, siblings in their order.
/// Levels are shown from the top as long as a whole one fits; below that, the children of the paths in `open`. `of`:
/// nodes of the tree; `left_out`: children of an open node, or matches, beyond the limit. Of a part the sums of others
/// follow at the end, one for each of its open levels; names are matched in the part alone. O(jobs + nodes) for the
/// numbers of pending jobs.
Json share_rows_view(const VisiblePart& part, const RowsQuery& query);
/// Changes whenever the answer may change.
std::string share_rows_version(const PriorityService& service);

}  // namespace weir::priority
