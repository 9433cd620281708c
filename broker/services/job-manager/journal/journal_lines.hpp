// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the content of each line of a job journal, and its seal: the number and the checksum. A part of a journal is
// decoded without the text before it, so parts can be decoded in parallel. Must not know: what the lines do to a job
// (journal.hpp), files, flux_t.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/job-manager/state/job.hpp"
#include "libfairshare/base/flat_json.hpp"

namespace weir::broker::jobs {

/// The key of the checksum, which ends each line: ,"crc":"12345678"}
inline constexpr std::string_view checksum_key = ",\"crc\":\"";
/// The CRC-32 in eight hexadecimal digits.
std::string checksum(std::string_view bytes);
/// Whether a line has the checksum of its text, and the number `expected`. Error: what is wrong.
Status check_seal(std::string_view text, FlatValue line, std::uint64_t expected);

/// What a submit line has besides its event.
struct Submission {
    std::uint64_t sequence = 0;
    std::string_view jobspec;
    JobspecFacts facts;
    bool has_environment = false;  ///< inside the jobspec
    std::string_view environment;  ///< beside it; empty: none
    std::optional<std::int64_t> environment_of;
};

/// One line. Its texts are parts of the journal's text.
struct JournalLine {
    JobId id = 0;
    EntryText entry;
    std::optional<Submission> submission;  ///< of the event "submit" alone
    std::string_view r;                    ///< empty: none
    std::optional<bool> synced;            ///< the mark that a flush begins with (journal.hpp)
    bool is_end = false;                   ///< of a flush
};

struct JournalPart {
    std::vector<JournalLine> lines;
    /// The line behind these is bad; the rest was not read.
    std::optional<Error> error;
};

/// Whether a whole line of the text, with the right checksum, has the mark "synced".
bool has_sync_mark(std::string_view text);
std::size_t count_lines(std::string_view text);
/// Decodes whole lines of a journal, each with its newline. `first`: the number of the first one. `is_sealed`: each has
/// a seal. O(size); uses nothing but its arguments.
JournalPart decode_lines(std::string_view text, std::uint64_t first, bool is_sealed);

}  // namespace weir::broker::jobs
