// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see job_kind.hpp.
#include "modules/job-priority/tap/job_kind.hpp"

#include <algorithm>
#include <charconv>

namespace weir::priority {
namespace {

std::int64_t cores_below(FlatValue resources, std::int64_t factor, int depth) {
    std::int64_t cores = 0;
    if (depth > requested_depth_max || !resources.is_array()) {
        return 0;
    }
    for (FlatValue resource = resources.first(); resource; resource = resource.next()) {
        const std::int64_t count = std::min(requested_count_max, factor * requested_count(resource));
        cores += resource["type"].string() == "core" ? count : cores_below(resource["with"], count, depth + 1);
    }
    return std::min(cores, requested_count_max);
}

/// Each name has its length in front, so that no name can look like two.
void append_name(std::string& text, std::string_view name) {
    text += std::to_string(name.size());
    text += ':';
    text += name;
}

}  // namespace

std::int64_t requested_count(FlatValue resource) {
    const FlatValue count = resource["count"];
    std::int64_t value = 1;
    if (const auto whole = count.integer()) {
        value = *whole;
    } else if (count.is_object()) {
        value = count["min"].integer().value_or(0);
    } else if (const auto text = count.string()) {
        std::from_chars(text->data(), text->data() + text->size(), value);
    }
    return std::clamp<std::int64_t>(value, 0, requested_count_max);
}

std::int64_t requested_cores(FlatValue resources) {
    return std::max<std::int64_t>(1, cores_below(resources, 1, 0));
}

std::string text_of(const JobKind& kind) {
    std::string text =
        std::to_string(kind.userid) + ' ' + std::to_string(kind.urgency) + ' ' + std::to_string(kind.cores) + ' ';
    append_name(text, kind.account);
    append_name(text, kind.queue);
    append_name(text, kind.qos);
    return text;
}

std::optional<std::string> kind_of_jobspec(std::uint32_t userid, int urgency, FlatValue jobspec) {
    const FlatValue system = jobspec["attributes"]["system"];
    for (const char* key : {"jobid", "userid", "queue", "serves"}) {
        if (system["weir"][key]) {
            return std::nullopt;
        }
    }
    const std::string account = system["bank"].string().value_or("");
    const std::string queue = system["queue"].string().value_or("");
    const std::string qos = system["qos"].string().value_or("");
    return text_of({userid, urgency, account, queue, qos, requested_cores(jobspec["resources"])});
}

}  // namespace weir::priority
