// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see event_stream.hpp.
#include "broker/services/job-manager/codecs/event_stream.hpp"

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

/// More than the keys and the id of a response take.
constexpr std::size_t keys_bytes = 80;

}  // namespace

std::string live_event_text(const Job& job, std::string_view name, std::string_view line) {
    ObjectText out;
    out.set("id", job.id);
    if (name == "submit") {
        out.splice("jobspec", job.jobspec_text.redacted);
    } else if (name == "alloc" && !job.r->text.empty()) {
        out.splice("R", job.r->text);
    }
    return out.splice("events", ArrayText().splice(line).text()).text();
}

bool brings_more(std::string_view name) {
    return name == "submit" || name == "alloc";
}

std::string later_event_text(std::string_view line) {
    std::string text(",");
    text += line;
    return text;
}

std::string together_text(std::string_view job) {
    return ObjectText().splice("jobs", ArrayText().splice(job).text()).text();
}

std::string backlog_text(const Job& job, const std::function<bool(std::string_view line)>& takes) {
    ArrayText events(job.eventlog.size() + 2);
    std::string_view lines = job.eventlog;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end + 1);
        if (!takes || takes(line)) {
            events.splice(line);
        }
    }
    ObjectText out(job.eventlog.size() + job.jobspec_text.redacted.size() + job.r->text.size() + keys_bytes);
    out.set("id", job.id).splice("events", events.text()).splice("jobspec", job.jobspec_text.redacted);
    if (!job.r->text.empty()) {
        out.splice("R", job.r->text);
    }
    return out.text();
}

}  // namespace weir::broker::jobs
