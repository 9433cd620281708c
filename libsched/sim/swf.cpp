// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SWF lines and the stream of them.
#include "libsched/sim/swf.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "libfairshare/base/escaped_text.hpp"

namespace weir {
namespace {

constexpr std::size_t field_count = 18;
constexpr std::size_t cpu_used_field = 5;

constexpr std::array<const char*, field_count> field_names{
    "job number",  "submit time",          "wait time",      "run time",         "processors",    "average CPU time",
    "used memory", "requested processors", "requested time", "requested memory", "status",        "user",
    "group",       "executable",           "queue",          "partition",        "preceding job", "think time"};

/// The fields of a line in their order; SwfJob names them.
using Fields = std::array<std::int64_t, field_count>;
static_assert(sizeof(SwfJob) == sizeof(Fields));

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

Error bad_field(std::size_t i, const char* at, const char* end) {
    const char* word_end = at;
    while (word_end != end && !is_blank(*word_end)) {
        ++word_end;
    }
    return Error{std::errc::invalid_argument, "field " + std::to_string(i + 1) + " (" + field_names[i] + ") is \"" +
                                                  escaped({at, static_cast<std::size_t>(word_end - at)}) +
                                                  "\": it must be an integer, -1 when not known"};
}

/// A decimal integer at `at`, which then points behind it; false when there is none or it is out of range.
bool read_integer(const char*& at, const char* end, std::int64_t& value) {
    const auto [after, error] = std::from_chars(at, end, value);
    at = after;
    return error == std::errc{};
}

/// The same, eight digits at once without a branch on their number: logs are mostly short numbers of unforeseeable
/// length. False, and nothing changed, for what is no number, near the end, or longer than 18 digits.
bool read_short_integer(const char*& at, const char* end, std::int64_t& value) {
    if (std::endian::native != std::endian::little || end - at < 9) {
        return false;
    }
    const std::int64_t is_negative = *at == '-' ? 1 : 0;
    const char* const first = at + is_negative;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, first, 8);
    bytes ^= 0x3030303030303030;  // digits become 0 to 9
    const std::uint64_t others = (bytes | (bytes + 0x7676767676767676)) & 0x8080808080808080;
    const int digits = std::countr_zero(others) / 8;  // bytes before the first that is no digit; 8 for none such
    if (digits == 0) {
        return false;
    }
    bytes <<= 64 - 8 * digits;          // the first digit is in the lowest byte that is not zero
    bytes = bytes * 10 + (bytes >> 8);  // pairs of digits, in every second byte
    constexpr std::uint64_t pairs = 0xFF000000FF;
    bytes = ((bytes & pairs) * (100 + (std::uint64_t{1'000'000} << 32)) +
             ((bytes >> 16) & pairs) * (1 + (std::uint64_t{10'000} << 32))) >>
            32;
    auto sum = static_cast<std::int64_t>(bytes);
    const char* p = first + digits;
    for (; digits == 8 && p != end && *p >= '0' && *p <= '9'; ++p) {
        if (p - first == 18) {
            return false;
        }
        sum = sum * 10 + (*p - '0');
    }
    value = (sum ^ -is_negative) + is_negative;
    at = p;
    return true;
}

}  // namespace

Result<SwfJob> parse_swf_line(std::string_view line) {
    Fields fields{};
    const char* at = line.data();
    const char* const end = at + line.size();
    for (std::size_t i = 0; i < field_count; i++) {
        while (at != end && is_blank(*at)) {
            ++at;
        }
        if (at == end) {
            return Error{std::errc::invalid_argument, "has " + std::to_string(i) + " fields; a job line has 18"};
        }
        // Most fields of most logs: where this is foreseen, the next field need not wait for the length of this one.
        if (end - at >= 3 && std::memcmp(at, "-1 ", 3) == 0) {
            fields[i] = -1;
            at += 3;
            continue;
        }
        const char* const begin = at;
        const bool is_integer = read_short_integer(at, end, fields[i]) || read_integer(at, end, fields[i]);
        if (is_integer && i == cpu_used_field && at != end && *at == '.') {
            ++at;
            while (at != end && *at >= '0' && *at <= '9') {
                ++at;
            }
        }
        if (!is_integer || (at != end && !is_blank(*at))) {
            return bad_field(i, begin, end);
        }
    }
    while (at != end && is_blank(*at)) {
        ++at;
    }
    if (at != end) {
        return Error{std::errc::invalid_argument, "has more than 18 fields"};
    }
    return std::bit_cast<SwfJob>(fields);
}

void append_swf_line(std::string& out, const SwfJob& job) {
    char line[field_count * 21];
    char* at = line;
    for (const std::int64_t value : std::bit_cast<Fields>(job)) {
        at = std::to_chars(at, line + sizeof line, value).ptr;
        *at++ = ' ';
    }
    out.append(line, at - 1);
}

std::string write_swf_line(const SwfJob& job) {
    std::string out;
    append_swf_line(out, job);
    return out;
}

std::string swf_header(const std::vector<std::string>& lines, std::int64_t processors) {
    std::string head = "; Version: 2.2\n; MaxProcs: " + std::to_string(processors) + "\n";
    for (const std::string& line : lines) {
        const bool is_said = line.rfind("MaxProcs:", 0) == 0 || line.rfind("Version:", 0) == 0;
        head += is_said ? "" : "; " + line + "\n";
    }
    return head;
}

SwfReader::SwfReader(Source source, std::string name, Options options)
    : lines_(std::move(source), std::move(name), swf_line_max), options_(options) {}

Result<SwfReader> SwfReader::open(const std::string& path, Options options) {
    auto lines = LineReader::open(path, swf_line_max);
    if (!lines) {
        return lines.error();
    }
    return SwfReader(std::move(*lines), options);
}

void SwfReader::read_comment(std::string_view line) {
    line.remove_prefix(1);
    while (!line.empty() && is_blank(line.front())) {
        line.remove_prefix(1);
    }
    while (!line.empty() && is_blank(line.back())) {
        line.remove_suffix(1);
    }
    constexpr std::string_view key = "MaxProcs:";
    if (line.substr(0, key.size()) == key) {
        std::string_view value = line.substr(key.size());
        while (!value.empty() && is_blank(value.front())) {
            value.remove_prefix(1);
        }
        std::int64_t processors = 0;
        const char* after = value.data();
        const char* const end = after + value.size();
        if (read_integer(after, end, processors) && (after == end || is_blank(*after)) && processors > 0) {
            max_processors_ = processors;
        } else {
            bad_size_ = lines_.at_line("MaxProcs is \"" + escaped(value) + "\": it must be an integer from 1 on");
        }
    }
    if (!saw_job_) {
        header_.emplace_back(line);
    }
}

Result<std::optional<SwfJob>> SwfReader::next() {
    while (true) {
        auto line = lines_.next();
        if (!line && options_.lenient && line.error().code == std::errc::io_error) {
            skipped_.add("behind the end of what can be read", line.error().message);
            return std::optional<SwfJob>();
        }
        if (!line) {
            return line.error();
        }
        if (!*line) {
            return std::optional<SwfJob>();
        }
        std::string_view text = **line;
        while (!text.empty() && is_blank(text.front())) {
            text.remove_prefix(1);
        }
        if (text.empty()) {
            continue;
        }
        if (text.front() == ';') {
            read_comment(text);
            continue;
        }
        auto job = parse_swf_line(text);
        if (job) {
            saw_job_ = true;
            return std::optional(*job);
        }
        if (!options_.lenient) {
            return lines_.at_line(job.error().message);
        }
        skipped_.add("no job line", lines_.at_line(job.error().message).message);
    }
}

}  // namespace weir
