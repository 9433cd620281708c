// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_report.hpp.
#include "modules/job-priority/messages/usage_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

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

void UsageReport::add(std::size_t span, const UsageSlot& slot, SignedCoreMicros core_us) {
    const std::string others(others_name);
    const bool is_told = !user_ || slot.user == *user_;
    if (sums_.size() <= rows_max) {
        sums_[{span, label_of(is_told ? slot : UsageSlot{0, others, others, others, others}, query_.by)}] += core_us;
    }
}

void UsageReport::add_hour(const UsageSlot& slot, std::int64_t core_us) {
    const auto& edges = query_.edges;
    const auto after = std::upper_bound(edges.begin(), edges.end(), slot.hour);
    if (after != edges.begin() && after != edges.end()) {
        add(static_cast<std::size_t>(after - edges.begin()) - 1, slot, core_us);
    }
}

void UsageReport::add_unwritten(const PriorityService& service, Instant now) {
    for (const auto& [slot, core_us] : service.log().unwritten_usage()) {
        add_hour(slot, core_us);
    }
    const Accounting& accounting = service.accounting();
    accounting.each_open([&](const RunningJob& job, std::int64_t cores, Instant since) {
        split_into_hours(usage_slot(accounting.tree(), job), {cores, since, now},
                         [this](const UsageSlot& slot, std::int64_t core_us) { add_hour(slot, core_us); });
    });
}

Result<Json> UsageReport::view(const PriorityService& service, Instant now) const {
    if (sums_.size() > rows_max) {
        return Error{std::errc::argument_list_too_long, "the report would have more than " + std::to_string(rows_max) +
                                                            " rows: ask for a shorter span, or name less in --by"};
    }
    SignedCoreMicros total = 0;
    Json rows = Json::array();
    for (const auto& [key, core_us] : sums_) {
        total += core_us;
        const auto& [span, slot] = key;
        if (core_us == 0) {
            continue;
        }
        Json row = Json::object();
        row.set("span", static_cast<long long>(span));
        const auto name = [&row](bool is_wanted, const char* key_text, const std::string& value) {
            if (is_wanted) {
                row.set(key_text, value);
            }
        };
        name(query_.by.account, "account", slot.account);
        name(query_.by.user, "user", slot.user);
        name(query_.by.queue, "queue", slot.queue);
        name(query_.by.project, "project", slot.project);
        rows.append(std::move(row.set("core_us", static_cast<long long>(core_us))));
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
