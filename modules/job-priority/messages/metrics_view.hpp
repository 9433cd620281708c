// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of job-priority.metrics that is about shares and waits. It reads the last evaluation and evaluates
// nothing, so that it may be asked every second.
#pragma once
#include <cstddef>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

/// A monitoring system keeps every path for months: an answer has no more of them.
inline constexpr std::size_t metric_paths_max = 2000;

struct MetricsQuery {
    std::size_t depth = 2;    ///< levels below the root
    bool with_users = false;  ///< leaves, too
};

/// {revision, evaluated_at, nodes: [{path, kind, entitled, used, usage_core_s, level_fs?, factor?, running_cores}],
/// left_out, visited, waits: {bounds_s, counts, sum_s}}. Nodes breadth first, at most metric_paths_max; `left_out`:
/// those beyond. A level_fs that is infinite is left out, as is the factor of an account that has none. O(children of
/// the accounts above `depth`); without users each leaf is only looked at.
Json metrics_view(const PriorityService& service, const MetricsQuery& query);

}  // namespace weir::priority
