// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_report.hpp.
#include "modules/job-priority/messages/usage_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include "modules/job-priority/charges/usage_hours.hpp"
#include "modules/job-priority/messages/visible_part.hpp"

namespace weir::priority {
namespace {

constexpr double report_date_max_s = 1e11;  // three thousand years from 1970

Error malformed_query(const std::string& what) {
    return Error{std::errc::invalid_argument, "usage-report: " + what};
}

Status read_edges(const json_t* list, std::vector<std::int64_t>& edges) {
    const std::size_t count = json_array_size(list);
    if (count == 1 || count > UsageQuery::spans_max + 1) {
        return malformed_query("2 to " + std::to_string(UsageQuery::spans_max + 1) + " edges are wanted: ask for " +
                               "months instead of days, or for a shorter span");
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double seconds = json_number_value(json_array_get(list, i));
        if (!(std::fabs(seconds) <= report_date_max_s)) {
            return malformed_query("an edge is a time in seconds since 1970");
        }
        const Instant at = instant_from_seconds(seconds);
        const bool is_up = i > 0 && micros(at) % micros_per_hour != 0;
        const std::int64_t hour = hour_of(at) + (is_up ? 1 : 0);
        if (!edges.empty() && hour < edges.back()) {
            return malformed_query("the edges must ascend");
        }
        if (edges.empty() || hour > edges.back()) {
            edges.push_back(hour);
        }
    }
    return edges.size() == 1 ? Status(malformed_query("the span must end after it begins")) : Status(Done{});
}

double seconds_of(std::int64_t hour) {
    return static_cast<double>(hour) * 3600.;
}

Instant begin_of(std::int64_t hour) {
    return Instant{Duration{hour * micros_per_hour}};
}

}  // namespace

Result<UsageQuery> read_usage_query(const json_t* payload) {
    UsageQuery query;
    if (const Status read = read_edges(json_object_get(payload, "edges"), query.edges); !read) {
        return read.error();
    }
    const json_t* by = json_object_get(payload, "by");
    for (std::size_t i = 0; i < json_array_size(by); ++i) {
        const char* text = json_string_value(json_array_get(by, i));
        const std::string_view word = text != nullptr ? text : "";
        bool* part = word == "account"   ? &query.by.account
                     : word == "user"    ? &query.by.user
                     : word == "queue"   ? &query.by.queue
                     : word == "project" ? &query.by.project
                                         : nullptr;
        if (part == nullptr) {
            return malformed_query("by takes account, user, queue and project");
        }
        *part = true;
    }
    return query;
}

UsageLabels UsageReport::labels() const {
    UsageLabels labels = query_.by;
    labels.user = labels.user || user_;
    return labels;
}

void UsageReport::add(const UsageSlot& slot, SignedCoreMicros core_us) {
    const std::string others(others_name);
    const bool is_told = !user_ || slot.user == *user_;
    open_[label_of(is_told ? slot : UsageSlot{0, others, others, others, others}, query_.by)] += core_us;
}

void UsageReport::add_unwritten(const PriorityService& service, Instant now) {
    const std::int64_t first = query_.edges.at(span_), end = query_.edges.at(span_ + 1);
    const UsageHours unwritten = service.unwritten_usage();
    for (auto at = unwritten.lower_bound(UsageSlot{first}); at != unwritten.end() && at->first.hour < end; ++at) {
        add(at->first, at->second);
    }
    if (!running_) {
        running_.emplace();
        service.accounting().each_open([this](const RunningJob& job, std::int64_t cores, Instant since) {
            running_->push_back({&job, cores, since});
        });
        std::sort(running_->begin(), running_->end(),
                  [](const Running& a, const Running& b) { return a.since < b.since; });
    }
    const Instant to = std::min(now, begin_of(end));
    for (const Running& run : *running_) {
        const Instant from = std::max(run.since, begin_of(first));
        if (from >= to) {
            break;  // so do those that started later
        }
        const Bill& bill = run.job->bill;
        UsageSlot slot = usage_slot(service.accounting().tree(), {0, run.job->payer, bill.queue, bill.project});
        for_each_hour({run.cores, from, to}, [&](std::int64_t hour, std::int64_t core_us) {
            slot.hour = hour;
            add(slot, core_us);
        });
    }
}

void UsageReport::end_span() {
    for (const auto& [slot, core_us] : open_) {
        if (core_us != 0) {
            rows_.push_back({span_, slot, core_us});
        }
    }
    open_.clear();
    ++span_;
    if (rows_.size() > 2 * rows_max_) {
        drop_smallest();
    }
}

/// Keeps rows_max_ rows.
void UsageReport::drop_smallest() {
    if (rows_.size() <= rows_max_) {
        return;
    }
    const auto kept_end = rows_.begin() + static_cast<std::ptrdiff_t>(rows_max_);
    std::nth_element(rows_.begin(), kept_end, rows_.end(), [](const Row& a, const Row& b) {
        return a.core_us != b.core_us ? a.core_us > b.core_us : std::tie(a.span, a.slot) < std::tie(b.span, b.slot);
    });
    std::for_each(kept_end, rows_.end(), [this](const Row& row) { rest_[row.span] += row.core_us; });
    rows_.erase(kept_end, rows_.end());
}

Json UsageReport::row_view(const Row& row) const {
    Json view = Json::object();
    view.set("span", static_cast<long long>(row.span));
    const auto name = [&view](bool is_wanted, const char* key, const std::string& value) {
        if (is_wanted) {
            view.set(key, value);
        }
    };
    name(query_.by.account, "account", row.slot.account);
    name(query_.by.user, "user", row.slot.user);
    name(query_.by.queue, "queue", row.slot.queue);
    name(query_.by.project, "project", row.slot.project);
    return std::move(view.set("core_us", static_cast<long long>(row.core_us)));
}

Result<Json> UsageReport::view(const PriorityService& service, Instant now) {
    drop_smallest();
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& a, const Row& b) { return std::tie(a.span, a.slot) < std::tie(b.span, b.slot); });
    SignedCoreMicros total = 0;
    Json rows = Json::array();
    const auto append = [&](const Row& row) {
        total += row.core_us;
        rows.append(row_view(row));
    };
    const std::string name(rest_name);
    auto row = rows_.cbegin();
    for (std::size_t span = 0; span < this->spans(); ++span) {
        for (; row != rows_.cend() && row->span == span; ++row) {
            append(*row);
        }
        if (const auto rest = rest_.find(span); rest != rest_.end() && rest->second != 0) {
            append({span, {0, name, name, name, name}, rest->second});
        }
    }
    if (total > std::numeric_limits<std::int64_t>::max()) {
        return Error{std::errc::result_out_of_range,
                     "the total is above 290 000 core-years, more than a JSON integer holds: ask for a shorter span"};
    }
    Json spans = Json::array();
    for (std::size_t i = 0; i < this->spans(); ++i) {
        Json span = Json::array();
        span.append(Json::own(json_real(seconds_of(query_.edges[i]))));
        span.append(Json::own(json_real(seconds_of(query_.edges[i + 1]))));
        spans.append(std::move(span));
    }
    Json view = Json::object();
    view.set("now", to_seconds(now)).set("since", to_seconds(service.log().meta().usage_since));
    view.set("cores", static_cast<long long>(service.ranking().machine().cores));
    view.set("nodes", static_cast<long long>(service.ranking().machine().nodes));
    view.set("spans", std::move(spans)).set("rows", std::move(rows));
    return std::move(view.set("total_core_us", static_cast<long long>(total)));
}

}  // namespace weir::priority
