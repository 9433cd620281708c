// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir usage report`: charges in a span of time, by account, user, project, queue and calendar.
#include <algorithm>
#include <cmath>

#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/common/reader.hpp"
#include "cmd/common/report_span.hpp"
#include "cmd/common/table.hpp"
#include "cmd/common/time_text.hpp"

namespace weir::cmd {
namespace {

struct ReportAsked {
    std::vector<std::string> by;  ///< of account, user, project, queue; in the order asked
    Period period = Period::whole;
    std::string unit = "core-hours";
};

std::vector<std::string> words_in(const std::string& list) {
    std::vector<std::string> words;
    std::size_t from = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        if (at == list.size() || list[at] == ',') {
            words.push_back(list.substr(from, at - from));
            from = at + 1;
        }
    }
    return words;
}

Status read_by(const std::string& list, ReportAsked& asked) {
    for (const std::string& word : words_in(list)) {
        const std::string name = word == "bank" ? "account" : word;
        const Period period = name == "hour"    ? Period::hour
                              : name == "day"   ? Period::day
                              : name == "month" ? Period::month
                                                : Period::whole;
        if (period != Period::whole) {
            if (asked.period != Period::whole && asked.period != period) {
                return Error{std::errc::invalid_argument, "--by takes one of hour, day and month."};
            }
            asked.period = period;
        } else if (name != "account" && name != "user" && name != "project" && name != "queue") {
            return Error{std::errc::invalid_argument,
                         "--by takes account (or bank), user, project, queue, hour, day and month, "
                         "with commas between, not \"" +
                             printable(word) + "\"."};
        } else if (std::find(asked.by.begin(), asked.by.end(), name) == asked.by.end()) {
            asked.by.push_back(name);
        }
    }
    return Done{};
}

Result<ReportAsked> read_asked(const Args& args) {
    ReportAsked asked;
    if (const Status read = read_by(args.text("by", "account,user"), asked); !read) {
        return read.error();
    }
    asked.unit = args.text("unit", asked.unit);
    if (asked.unit != "core-hours" && asked.unit != "node-hours" && asked.unit != "core-seconds") {
        return Error{std::errc::invalid_argument,
                     "--unit takes core-hours, node-hours and core-seconds, not \"" + printable(asked.unit) + "\"."};
    }
    return asked;
}

/// The edges of the spans; `head` is the answer without edges: the begin of the history, and the instance's time.
Result<std::vector<double>> edges_of(const Args& args, const json_t* head, Period period) {
    const double now = number_at(head, "now");
    const double begin = number_at(head, "since");
    const auto since = args.has("since") ? report_begin(args.text("since"), now) : Result<double>(begin);
    const auto until = report_time(args.text("until", "now"), now);
    if (!since || !until) {
        return since ? until.error() : since.error();
    }
    std::vector<double> edges = report_edges(*since, std::min(*until, now), period);
    if (edges.empty()) {
        return Error{std::errc::invalid_argument, "the span is empty: it begins at " + local_time(*since) +
                                                      " and ends at " + local_time(std::min(*until, now)) + "."};
    }
    return edges;
}

/// Core-microseconds in the unit that is asked for: a node-hour is the machine's mean of cores for an hour.
std::string amount_text(std::int64_t core_us, const ReportAsked& asked, double cores_per_node) {
    const double core_s = static_cast<double>(core_us) / 1e6;
    if (asked.unit == "core-seconds") {  // exact: two integers, no rounding
        const std::string micros = std::to_string(1'000'000 + core_us % 1'000'000).substr(1);
        return std::to_string(core_us / 1'000'000) + "." + micros;
    }
    return core_hours(asked.unit == "node-hours" ? core_s / cores_per_node : core_s);
}

std::string label_text(const json_t* row, const std::string& part) {
    const std::string text = text_at(row, part.c_str());
    if (part == "account") {
        return text.empty() ? "(nobody's)" : text == "/idle" ? "(idle in partitions)" : printable(text);
    }
    return !text.empty() ? printable(text) : part == "project" ? "*" : "-";
}

double cores_per_node_of(const json_t* answer) {
    const double nodes = number_at(answer, "nodes");
    return nodes > 0 && number_at(answer, "cores") > 0 ? number_at(answer, "cores") / nodes : 1;
}

/// A report has whole hours, up to now.
std::string footer(const json_t* answer, const ReportAsked& asked) {
    const std::vector<json_t*> spans = items_at(answer, "spans");
    const double until = json_number_value(json_array_get(spans.back(), 1));
    std::string text = "from " + local_time(json_number_value(json_array_get(spans.front(), 0))) + " to " +
                       local_time(std::min(until, number_at(answer, "now")));
    if (asked.unit == "node-hours") {
        text += "; a node-hour is " + fixed(cores_per_node_of(answer), 2) + " core-hours, the machine's mean";
    }
    const std::vector<json_t*> rows = items_at(answer, "rows");
    const bool has_rest = std::any_of(rows.begin(), rows.end(), [&asked](const json_t* row) {
        return !asked.by.empty() && text_at(row, asked.by.front().c_str()) == "[rest]";
    });
    return text + (has_rest ? "; [rest]: the rows with the least usage, beyond what a report has\n" : "\n");
}

/// `since`: as asked. The answer's first hour may begin before it, and in the day before.
std::string report_text(const json_t* answer, const ReportAsked& asked, double since, const Screen& screen) {
    std::vector<Column> columns;
    if (asked.period != Period::whole) {
        columns.push_back({asked.period == Period::hour ? "hour" : asked.period == Period::day ? "day" : "month"});
    }
    for (const std::string& part : asked.by) {
        columns.push_back({part});
    }
    if (columns.empty()) {
        columns.push_back({""});
    }
    const std::size_t labels = columns.size();
    columns.push_back({asked.unit, Align::right});
    columns.push_back({"of all", Align::right});
    Table table(columns);
    const std::int64_t total = integer_at(answer, "total_core_us");
    std::vector<json_t*> rows = items_at(answer, "rows");
    std::stable_sort(rows.begin(), rows.end(), [](const json_t* a, const json_t* b) {
        const auto span = [](const json_t* row) { return integer_at(row, "span"); };
        return span(a) != span(b) ? span(a) < span(b) : integer_at(a, "core_us") > integer_at(b, "core_us");
    });
    const std::vector<json_t*> spans = items_at(answer, "spans");
    const auto add = [&](std::vector<std::string> cells, std::int64_t core_us) {
        cells.resize(labels);
        cells.push_back(amount_text(core_us, asked, cores_per_node_of(answer)));
        cells.push_back(total > 0 ? percent(static_cast<double>(core_us) / static_cast<double>(total)) : "-");
        table.add(std::move(cells));
    };
    for (const json_t* row : rows) {
        std::vector<std::string> cells;
        if (asked.period != Period::whole) {
            const json_t* span = spans.at(static_cast<std::size_t>(integer_at(row, "span")));
            const double begin = std::max(json_number_value(json_array_get(span, 0)), since);
            cells.push_back(period_name(begin, asked.period));
        }
        for (const std::string& part : asked.by) {
            cells.push_back(label_text(row, part));
        }
        if (!asked.by.empty() || asked.period != Period::whole) {
            add(std::move(cells), integer_at(row, "core_us"));
        }
    }
    add({"all"}, total);
    return table.text(screen) + footer(answer, asked);
}

Exit run_usage_report(Context& context) {
    const auto asked = read_asked(context.args);
    if (!asked) {
        return context.fail(Exit::usage, asked.error().message);
    }
    return with_instance(context, [&](Client& client) {
        const auto head = client.call("job-priority.usage-report", Json::object());
        if (!head) {
            return context.fail(head.error());
        }
        const auto edges = edges_of(context.args, head->get(), asked->period);
        if (!edges) {
            return context.fail(Exit::usage, edges.error().message);
        }
        Json payload = Json::object();
        Json list = Json::array();
        for (const double edge : *edges) {
            list.append(Json::own(json_real(edge)));
        }
        Json by = Json::array();
        for (const std::string& part : asked->by) {
            by.append(Json::own(json_string(part.c_str())));
        }
        payload.set("edges", std::move(list)).set("by", std::move(by));
        const auto answer = client.call("job-priority.usage-report", payload);
        if (!answer) {
            return context.fail(answer.error());
        }
        context.print(context.json ? json_text("weir.usage-report/1", *answer)
                                   : report_text(answer->get(), *asked, edges->front(), context.out));
        if (const double since = number_at(head->get(), "since"); edges->front() < std::floor(since)) {
            context.note("The history begins at " + local_time(since) +
                         ". From the time before, the report has only the jobs that the instance still knew then.");
        }
        return Exit::ok;
    });
}

}  // namespace

Command usage_report_command() {
    Command command;
    command.name = "usage report";
    command.summary = "what was charged in a span of time, by account, user, project, queue, day or month";
    command.examples = {"weir usage report --since=2026-11 --by=account,user  # this month, as sreport prints it",
                        "weir usage report --since=7d --by=day,project  # a row for each day and project",
                        "weir usage report --since=2026-01-01 --by=month --unit=node-hours --json  # for a program"};
    command.options = {
        {"since", 0, "TIME", "the hour of a date, a month, \"today\" or a time ago (default: the begin of the history)",
         Kind::text},
        {"until", 0, "TIME", "likewise, not included (default: now)", Kind::text},
        {"by", 0, "LIST", "of account, user, project, queue, and one of hour, day, month (default: account,user)",
         Kind::text},
        {"unit", 0, "UNIT", "core-hours, node-hours or core-seconds, which are exact", Kind::text},
    };
    command.run = run_usage_report;
    return command;
}

}  // namespace weir::cmd
