// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one entry of a job's eventlog as a value, and its text form (one line of JSON).
// Must not know: what an event does to a job (transition.hpp), files, flux_t.
// RFC 18 (eventlog format), RFC 21 (event names and contexts).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::broker::jobs {

struct Event {
    /// Microseconds since the Unix epoch, scaled clock.
    std::int64_t t_us = 0;
    std::string name;
    /// An object, or empty.
    Json context;

    /// The same event; the context is shared.
    Event share() const { return {t_us, name, context.share()}; }
};

/// "1700000000.123456": whole microseconds, so a reader gets the very value back.
std::string timestamp_text(std::int64_t t_us);
/// {"timestamp":t,"name":s[,"context":{}]} without a newline. Keys always in this order.
std::string encode(const Event& event);
/// Reads what encode() or stock Flux wrote. Error: which key is missing or wrong.
Result<Event> decode_event(FlatValue entry);
/// encode() of the event that was read from `entry`. Where the entry is laid out alike, its text, contexts unread.
std::string encode_again(const Event& event, FlatValue entry);
/// The name within a line that encode() wrote, without parsing the line.
std::string_view name_of_line(std::string_view line);
/// The value {"timestamp","name","context"} for plugins.
Json entry_json(const Event& event);

}  // namespace weir::broker::jobs
