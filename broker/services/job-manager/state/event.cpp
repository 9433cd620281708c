// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text form of eventlog entries.
// Must not know: what an event does to a job. RFC 18.
#include "broker/services/job-manager/state/event.hpp"

#include <charconv>
#include <cmath>

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

constexpr double timestamp_max_s = 253402300800;  // the year 10000
/// As long as most entries are.
constexpr std::size_t entry_bytes = 120;
constexpr std::string_view context_key = ",\"context\":";

/// What encode() writes before the context.
std::string head_of(std::int64_t t_us, std::string_view name) {
    std::string out;
    out.reserve(entry_bytes);
    out += "{\"timestamp\":";
    out += timestamp_text(t_us);
    out += ",\"name\":";
    append_quoted(out, name);
    return out;
}

}  // namespace

std::string timestamp_text(std::int64_t t_us) {
    char buffer[32];
    char* end = std::to_chars(buffer, buffer + sizeof buffer, t_us / 1000000).ptr;
    *end = '.';
    std::int64_t fraction = t_us % 1000000;
    for (int place = 6; place > 0; --place, fraction /= 10) {
        end[place] = static_cast<char>('0' + fraction % 10);
    }
    return {buffer, end + 7};
}

std::string encode(const Event& event) {
    std::string out = head_of(event.t_us, event.name);
    if (event.context) {
        out += context_key;
        append_json(out, event.context.get());
    }
    out += '}';
    return out;
}

Status check_event_time(double seconds) {
    if (seconds >= 0 && seconds <= timestamp_max_s) {
        return Done{};
    }
    return Error{std::errc::invalid_argument,
                 "must be seconds since 1970, up to the year 9999, not " + Json::real(seconds).dump()};
}

Result<EntryText> read_entry(FlatValue entry) {
    const auto timestamp = entry["timestamp"].number();
    auto name = entry["name"].string();
    const FlatValue context = entry["context"];
    if (!timestamp || !name || name->empty()) {
        return Error{std::errc::invalid_argument, "an event needs \"timestamp\" (number) and \"name\" (string)"};
    }
    if (auto valid = check_event_time(*timestamp); !valid) {
        return Error{std::errc::invalid_argument, "the event's \"timestamp\" " + valid.error().message};
    }
    if (context && !context.is_object()) {
        return Error{std::errc::invalid_argument, "the event's \"context\" must be an object"};
    }
    EntryText read{std::llround(*timestamp * 1e6), std::move(*name), entry.text(), context.text()};
    const std::string head = head_of(read.t_us, read.name);
    const std::size_t size = head.size() + (context ? context_key.size() + read.context.size() : 0) + 1;
    read.is_as_encoded = read.text.size() == size && read.text.starts_with(head);
    return read;
}

Event event_of(const EntryText& entry, FlatJson& flat) {
    return {entry.t_us, entry.name, entry.context.empty() ? Json() : Json::of(flat.read(entry.context))};
}

std::string encode_again(const Event& event, const EntryText& entry) {
    return entry.is_as_encoded ? std::string(entry.text) : encode(event);
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
    entry.set("timestamp", static_cast<double>(event.t_us) / 1e6);
    entry.set("name", event.name);
    if (event.context) {
        entry.set("context", event.context.share());
    }
    return entry;
}

}  // namespace weir::broker::jobs
