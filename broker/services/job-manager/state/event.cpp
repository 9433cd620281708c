// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text form of eventlog entries.
// Must not know: what an event does to a job. RFC 18.
#include "broker/services/job-manager/state/event.hpp"

#include <cmath>
#include <cstdio>

namespace weir::broker::jobs {
namespace {

constexpr double timestamp_max_s = 253402300800;  // the year 10000

}  // namespace

void append_timestamp(std::string& out, std::int64_t t_us) {
    char buffer[48];
    const int n = std::snprintf(buffer, sizeof buffer, "%lld.%06lld", static_cast<long long>(t_us / 1000000),
                                static_cast<long long>(t_us % 1000000));
    out.append(buffer, static_cast<std::size_t>(n));
}

std::string encode(const Event& event) {
    std::string out = "{\"timestamp\":";
    append_timestamp(out, event.t_us);
    out += ",\"name\":";
    append_quoted(out, event.name);
    if (event.context) {
        out += ",\"context\":";
        append_json(out, event.context.get());
    }
    out += '}';
    return out;
}

Result<Event> decode_event(const json_t* entry) {
    const auto timestamp = read_number(entry, "timestamp");
    const auto name = read_string(entry, "name");
    json_t* context = json_object_get(entry, "context");
    if (!timestamp || !name || name->empty()) {
        return Error{std::errc::invalid_argument, "an event needs \"timestamp\" (number) and \"name\" (string)"};
    }
    if (!(*timestamp >= 0 && *timestamp <= timestamp_max_s)) {
        return Error{std::errc::invalid_argument,
                     "the event's \"timestamp\" must be seconds since 1970, up to the year "
                     "9999, not " +
                         Json::real(*timestamp).text()};
    }
    if (context && !json_is_object(context)) {
        return Error{std::errc::invalid_argument, "the event's \"context\" must be an object"};
    }
    return Event{std::llround(*timestamp * 1e6), std::string(*name), Json::share(context)};
}

std::string_view name_of_line(std::string_view line) {
    static constexpr std::string_view key = ",\"name\":\"";
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(at + key.size());
    return line.substr(0, line.find('"'));
}

Json entry_json(const Event& event) {
    Json entry = Json::object();
    entry.set("timestamp", Json::real(static_cast<double>(event.t_us) / 1e6));
    entry.set("name", Json::string(event.name));
    if (event.context) {
        entry.set("context", event.context);
    }
    return entry;
}

}  // namespace weir::broker::jobs
