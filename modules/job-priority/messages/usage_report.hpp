// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-priority.usage-report: what is asked, the sums of spans of whole hours, and the answer.
// Must not know: where the hours are stored, calendars: the asker names the hours at which his spans begin.
// Who submits jobs chooses names of projects, as many as he likes: so the rows of a report are bounded, and the bound
// takes nothing but the smallest rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// The label of a span's rest. No account can have this name.
inline constexpr std::string_view rest_name = "[rest]";

/// It is filled span by span, in their order.
class UsageReport {
  public:
    static constexpr std::size_t rows_max_default = 20000;

    /// `user`: what others paid is told as that of others_name; nobody: all is told. `rows_max`: so many rows with the
    /// most usage are told, and what the others of a span have is one more row, that of rest_name.
    explicit UsageReport(UsageQuery query, std::optional<std::string> user = std::nullopt,
                         std::size_t rows_max = rows_max_default)
        : query_(std::move(query)), user_(std::move(user)), rows_max_(rows_max) {}
    const UsageQuery& query() const { return query_; }
    /// What the slots that are added must tell apart.
    UsageLabels labels() const;
    /// The number of rows that are stored of spans that are ended.
    std::size_t rows() const { return rows_.size(); }
    /// The number of spans.
    std::size_t spans() const { return query_.edges.empty() ? 0 : query_.edges.size() - 1; }

    /// Adds to the row of `slot` in the span that is not ended yet. O(log labels of the span).
    void add(const UsageSlot& slot, SignedCoreMicros core_us);
    /// Adds what the state file does not have of this span: usage that is not written yet, and that of running jobs.
    /// The service is the same, and not changed, until all spans are ended. O(hours log labels).
    void add_unwritten(const PriorityService& service, Instant now);
    /// The next span begins. Amortised O(labels of the span).
    void end_span();

    /// {now, since, cores, nodes, by, spans: [[from, to]], rows: [{span, account?, user?, queue?, project?, core_us}],
    /// total_core_us}. `since`: the hours are whole from then on. The total is the sum of the rows, which are in order
    /// of span and label, the rest of a span last. Rows that are 0 are left out. Errors: ERANGE with a sentence.
    Result<Json> view(const PriorityService& service, Instant now);

  private:
    struct Row {
        std::size_t span = 0;
        UsageSlot slot;
        SignedCoreMicros core_us = 0;
    };
    struct Running {
        const RunningJob* job = nullptr;
        std::int64_t cores = 0;
        Instant since{};
    };
    void drop_smallest();
    Json row_view(const Row& row) const;

    UsageQuery query_;
    std::optional<std::string> user_;
    std::size_t rows_max_;
    std::optional<std::vector<Running>> running_;   ///< by their starts
    std::size_t span_ = 0;                          ///< that is filled now
    std::map<UsageSlot, SignedCoreMicros> open_;    ///< of that span, by label
    std::vector<Row> rows_;                         ///< of the spans before it: at most 2 rows_max_
    std::map<std::size_t, SignedCoreMicros> rest_;  ///< by span
};

}  // namespace weir::priority
