// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see journal_lines.hpp.
// Must not know: files, flux_t, plugins.
#include "broker/services/job-manager/journal/journal_lines.hpp"

#include <zlib.h>

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::size_t checksum_digits = 8;
/// ,"crc":"12345678"}
constexpr std::size_t tail_size = checksum_key.size() + checksum_digits + 2;

Error faulty(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

Result<Submission> decode_submission(FlatValue line) {
    const FlatValue jobspec = line["jobspec"];
    const auto sequence = line["seq"].integer();
    if (!jobspec.is_object() || !sequence || *sequence < 0) {
        return faulty("a submit line needs \"seq\" (integer) and \"jobspec\" (object)");
    }
    Submission submission;
    submission.sequence = static_cast<std::uint64_t>(*sequence);
    submission.jobspec = jobspec.text();
    submission.facts = jobspec_facts(jobspec);
    submission.has_environment = static_cast<bool>(jobspec["attributes"]["system"]["environment"]);
    submission.environment = line["environment"].text();
    submission.environment_of = line["environment_of"].integer();
    return submission;
}

Result<JournalLine> decode_line(std::string_view text, FlatJson& flat, std::uint64_t number, bool is_sealed) {
    const FlatValue line = flat.read(text);
    if (!line) {
        const auto explained = Json::parse(text, SameKeys::last_counts);
        return explained ? faulty("invalid JSON") : explained.error();
    }
    if (is_sealed) {
        if (auto done = check_seal(text, line, number); !done) {
            return done.error();
        }
    }
    const auto id = line["id"].integer();
    if (!id) {
        return faulty("\"id\" is missing or no integer");
    }
    auto entry = read_entry(line["event"]);
    if (!entry) {
        return entry.error();
    }
    JournalLine decoded{static_cast<JobId>(*id), std::move(*entry),        std::nullopt,
                        line["R"].text(),        line["synced"].boolean(), line["end"].boolean().value_or(false)};
    if (decoded.entry.name == "submit") {
        auto submission = decode_submission(line);
        if (!submission) {
            return submission.error();
        }
        decoded.submission = std::move(*submission);
    }
    return decoded;
}

}  // namespace

std::string checksum(std::string_view bytes) {
    auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    std::string text(checksum_digits, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, crc >>= 4) {
        *digit = "0123456789abcdef"[crc & 0xF];
    }
    return text;
}

Status check_seal(std::string_view text, FlatValue line, std::uint64_t expected) {
    const std::size_t end = text.size() < tail_size ? 0 : text.size() - tail_size;
    if (text.substr(end, checksum_key.size()) != checksum_key) {
        return faulty("the line has no checksum");
    }
    const std::string_view told = text.substr(end + checksum_key.size(), checksum_digits);
    const std::string found = checksum(text.substr(0, end));
    if (told != found) {
        return faulty("the line was changed: its checksum says " + std::string(told) + ", its text has " + found);
    }
    const auto number = line["n"].integer();
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) != expected) {
        return faulty("lines are missing or out of place: this is line number " +
                      (number ? std::to_string(*number) : "(none)") + " where " + std::to_string(expected) +
                      " must stand");
    }
    return Done{};
}

bool has_sync_mark(std::string_view text) {
    FlatJson flat;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line_text = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line_text.find("\"synced\":") != std::string_view::npos) {
            const FlatValue line = flat.read(line_text);
            const auto number = line["n"].integer();
            if (line["synced"].boolean() && number && *number >= 0 &&
                check_seal(line_text, line, static_cast<std::uint64_t>(*number))) {
                return true;
            }
        }
    }
    return false;
}

std::size_t count_lines(std::string_view text) {
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos; ++at) {
        lines += 1;
    }
    return lines;
}

JournalPart decode_lines(std::string_view text, std::uint64_t first, bool is_sealed) {
    JournalPart part;
    part.lines.reserve(count_lines(text));
    FlatJson flat;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        auto line = decode_line(text.substr(0, end), flat, first + part.lines.size(), is_sealed);
        if (!line) {
            part.error = line.error();
            break;
        }
        part.lines.push_back(std::move(*line));
        text.remove_prefix(end + 1);
    }
    return part;
}

}  // namespace weir::broker::jobs
