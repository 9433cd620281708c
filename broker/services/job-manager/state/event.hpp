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
/// Whether a journal with an event of that time can be read again. Error: what the time must be, without a subject.
Status check_event_time(double seconds);
/// {"timestamp":t,"name":s[,"context":{}]} without a newline. Keys always in this order.
std::string encode(const Event& event);
/// An entry as it stands in a text, whose parts `text` and `context` are.
struct EntryText {
    std::int64_t t_us = 0;
    std::string name;
    std::string_view text;
    std::string_view context;    ///< of a JSON object, or empty
    bool is_as_encoded = false;  ///< but for the inside of the context, encode() would write the same text
};
/// Reads what encode() or stock Flux wrote. Error: which key is missing or wrong.
Result<EntryText> read_entry(FlatValue entry);
/// The event of an entry; `flat` reads its context.
Event event_of(const EntryText& entry, FlatJson& flat);
/// encode() of the event of `entry`. Where the entry is laid out alike, its text, contexts unread.
std::string encode_again(const Event& event, const EntryText& entry);
/// The name within a line that encode() wrote, without parsing the line.
std::string_view name_of_line(std::string_view line);
/// The value {"timestamp","name","context"} for plugins.
Json entry_json(const Event& event);

}  // namespace weir::broker::jobs
