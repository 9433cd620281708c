// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-priority.usage-report: what is asked, the sums of spans of whole hours, and the answer.
// Must not know: where the hours are stored, calendars: the asker names the hours at which his spans begin.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

struct UsageQuery {
    static constexpr std::size_t spans_max = 1200;  ///< three years of days
    /// Hours: each span is from one to before the next. Ascending; empty: only the begin of the history is requested.
    std::vector<std::int64_t> edges;
    UsageLabels by;
};

/// Reads {edges?: [seconds], by?: ["account"|"user"|"queue"|"project"]}. A second within an hour means that whole hour:
/// the first edge is rounded down, the others up; a span without an hour is left out.
/// Errors: EINVAL with a sentence.
Result<UsageQuery> read_usage_query(const json_t* payload);

class UsageReport {
  public:
    static constexpr std::size_t rows_max = 20000;

    /// `user`: what others paid is told as that of others_name; nobody: all is told.
    explicit UsageReport(UsageQuery query, std::optional<std::string> user = std::nullopt)
        : query_(std::move(query)), user_(std::move(user)) {}
    const UsageQuery& query() const { return query_; }
    /// What the slots that are added must tell apart.
    UsageLabels labels() const;
    /// The number of rows that are stored.
    std::size_t rows() const { return sums_.size(); }
    /// The number of spans.
    std::size_t spans() const { return query_.edges.empty() ? 0 : query_.edges.size() - 1; }

    /// Adds to the row of `slot` in a span. Nothing once there are more than rows_max, since view() is an error then.
    /// O(log rows_max).
    void add(std::size_t span, const UsageSlot& slot, SignedCoreMicros core_us);
    /// Adds an hour to the span that contains it, if there is one.
    void add_hour(const UsageSlot& slot, std::int64_t core_us);
    /// Adds the usage that the state file does not have yet, and that of running jobs. O((hours unwritten + hours of
    /// running jobs) log rows).
    void add_unwritten(const PriorityService& service, Instant now);

    /// {now, since, cores, nodes, by, spans: [[from, to]], rows: [{span, account?, user?, queue?, project?, core_us}],
    /// total_core_us}. `since`: the hours are whole from then on. The total is the sum of the rows. Rows that are 0 are
    /// left out. Errors: E2BIG, ERANGE with a sentence.
    Result<Json> view(const PriorityService& service, Instant now) const;

  private:
    UsageQuery query_;
    std::optional<std::string> user_;
    std::map<std::pair<std::size_t, UsageSlot>, SignedCoreMicros> sums_;  ///< at most rows_max + 1
};

}  // namespace weir::priority
