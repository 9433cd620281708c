// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the four formats.
#include "cmd/sim/outcome_file.hpp"

#include <charconv>

#include "libfairshare/base/json/text_writer.hpp"
#include "libsched/sim/swf.hpp"

namespace weir::cmd {
namespace {

constexpr std::int64_t second = 1'000'000;

void append(std::string& out, std::int64_t value) {
    char text[24];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Microseconds as seconds, decimals only where there are any.
void append_seconds(std::string& out, std::int64_t us) {
    if (us < 0) {
        out += '-';
        us = -us;
    }
    append(out, us / second);
    if (us % second != 0) {
        std::string decimals = std::to_string(second + us % second).substr(1);
        decimals.resize(decimals.find_last_not_of('0') + 1);
        out += '.';
        out += decimals;
    }
}
void append_seconds(std::string& out, Instant t) {
    append_seconds(out, t.time_since_epoch().count());
}

/// Named numbers in the order of CSV's columns; an empty `requested` where there is none.
template <typename Integer, typename Seconds>
void each_column(const Outcome& o, Integer&& integer, Seconds&& seconds) {
    const auto us = [](Instant t) { return t.time_since_epoch().count(); };
    integer("job", o.job.number);
    integer("user", o.job.user);
    integer("group", o.job.group);
    integer("queue", o.job.queue);
    integer("partition", o.job.partition);
    integer("cores", o.job.cores);
    seconds("submit", us(o.job.submit));
    seconds("start", us(o.start));
    seconds("end", us(o.end()));
    seconds("wait", o.wait().count());
    seconds("run", o.job.run.count());
    seconds("requested", o.job.limit == Duration::max() ? -second : o.job.limit.count());
}

void csv_head(std::string& out) {
    const auto name = [&out](const char* column, std::int64_t) {
        out += out.empty() ? "" : ",";
        out += column;
    };
    each_column(Outcome{}, name, name);
    out += '\n';
}

void csv_row(std::string& out, const Outcome& outcome) {
    each_column(
        outcome,
        [&out](const char*, std::int64_t value) {
            out += out.empty() ? "" : ",";
            append(out, value);
        },
        [&out](const char*, std::int64_t us) {
            out += ',';
            append_seconds(out, us);
        });
    out += '\n';
}

void json_row(std::string& out, const Outcome& outcome) {
    const auto key = [&out](const char* column) {
        out += out.back() == '{' ? "\"" : ",\"";
        out += column;
        out += "\":";
    };
    out += '{';
    each_column(
        outcome,
        [&](const char* column, std::int64_t value) {
            key(column);
            append(out, value);
        },
        [&](const char* column, std::int64_t us) {
            key(column);
            append_seconds(out, us);
        });
    out += '}';
}

/// The beginning of an object whose last member is the array of the jobs.
std::string json_head(const ReplayFacts& facts) {
    ObjectText facts_text;
    facts_text.set("schema", "weir.sim-jobs/1").set("log", facts.log).set("scheduler", facts.scheduler);
    std::string head = facts_text.set("cores", facts.cores).text();
    head.back() = ',';
    return head += "\"jobs\":[";
}

std::string swf_head(const ReplayFacts& facts) {
    std::vector<std::string> lines{"Note: replayed by weir sim run under " + facts.scheduler +
                                   "; the waits are the replay's"};
    lines.insert(lines.end(), facts.header.begin(), facts.header.end());
    return swf_header(lines, facts.cores);
}

std::int64_t known(std::int64_t value) {
    return value > 0 ? value : -1;
}

void swf_row(std::string& out, const Outcome& outcome) {
    const SimJob& job = outcome.job;
    const auto at = [](Instant t) { return t.time_since_epoch().count() / second; };
    SwfJob line;
    line.job = job.number;
    line.submit = at(job.submit);
    line.wait = at(outcome.start) - line.submit;
    line.run = at(outcome.end()) - at(outcome.start);
    line.processors = line.requested_processors = job.cores;
    line.requested_time = job.limit == Duration::max() ? -1 : job.limit.count() / second;
    line.status = 1;
    line.user = known(job.user);
    line.group = known(job.group);
    line.queue = known(job.queue);
    line.partition = known(job.partition);
    append_swf_line(out, line);
    out += '\n';
}

}  // namespace

std::optional<OutcomeFormat> outcome_format(const std::string& path) {
    const std::string format = format_of(path);
    return format == "csv"    ? std::optional(OutcomeFormat::csv)
           : format == "swf"  ? std::optional(OutcomeFormat::swf)
           : format == "json" ? std::optional(OutcomeFormat::json)
                              : std::nullopt;
}

Result<OutcomeFile> OutcomeFile::create(const std::string& path, OutcomeFormat format, const ReplayFacts& facts) {
    auto output = OutputFile::create(path);
    if (!output) {
        return output.error();
    }
    OutcomeFile file(std::move(*output), format);
    std::string head;
    switch (format) {
        case OutcomeFormat::starts:
            head = "job,start\n";
            break;
        case OutcomeFormat::csv:
            csv_head(head);
            break;
        case OutcomeFormat::swf:
            head = swf_head(facts);
            break;
        case OutcomeFormat::json:
            head = json_head(facts);
            break;
    }
    if (auto done = file.file_.write(head); !done) {
        return done.error();
    }
    return file;
}

Status OutcomeFile::add(const Outcome& outcome) {
    row_.clear();
    switch (format_) {
        case OutcomeFormat::starts:
            append(row_, outcome.job.number);
            row_ += ',';
            append_seconds(row_, outcome.start);
            row_ += '\n';
            break;
        case OutcomeFormat::csv:
            csv_row(row_, outcome);
            break;
        case OutcomeFormat::swf:
            swf_row(row_, outcome);
            break;
        case OutcomeFormat::json:
            row_ = is_first_ ? "\n" : ",\n";
            json_row(row_, outcome);
            break;
    }
    is_first_ = false;
    return file_.write(row_);
}

Status OutcomeFile::finish(bool is_complete) {
    std::string tail;
    if (format_ == OutcomeFormat::json) {
        tail = std::string("\n],\"complete\":") + (is_complete ? "true" : "false") + "}\n";
    } else if (format_ == OutcomeFormat::swf && !is_complete) {
        tail = "; Note: the replay was interrupted here\n";
    }
    if (auto done = file_.write(tail); !done) {
        return done;
    }
    return file_.commit();
}

}  // namespace weir::cmd
