// SPDX-License-Identifier: LGPL-3.0-only
// Owns: SWF lines and the stream of them. zlib reads plain files through the same calls as gzip ones.
#include "libsched/sim/swf.hpp"

#include <zlib.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>

namespace weir {
namespace {

constexpr std::size_t field_count = 18;
constexpr std::size_t cpu_used_field = 5;
constexpr std::size_t line_max = 64 * 1024;

constexpr std::array<const char*, field_count> field_names{
    "job number",  "submit time",          "wait time",      "run time",         "processors",    "average CPU time",
    "used memory", "requested processors", "requested time", "requested memory", "status",        "user",
    "group",       "executable",           "queue",          "partition",        "preceding job", "think time"};

constexpr std::array<std::int64_t SwfJob::*, field_count> fields{&SwfJob::job,
                                                                 &SwfJob::submit,
                                                                 &SwfJob::wait,
                                                                 &SwfJob::run,
                                                                 &SwfJob::processors,
                                                                 &SwfJob::cpu_used,
                                                                 &SwfJob::memory_used,
                                                                 &SwfJob::requested_processors,
                                                                 &SwfJob::requested_time,
                                                                 &SwfJob::requested_memory,
                                                                 &SwfJob::status,
                                                                 &SwfJob::user,
                                                                 &SwfJob::group,
                                                                 &SwfJob::executable,
                                                                 &SwfJob::queue,
                                                                 &SwfJob::partition,
                                                                 &SwfJob::preceding,
                                                                 &SwfJob::think_time};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

Error bad_field(std::size_t i, const char* at, const char* end) {
    const char* word_end = at;
    while (word_end != end && !is_blank(*word_end)) {
        ++word_end;
    }
    return Error{std::errc::invalid_argument,
                 "field " + std::to_string(i + 1) + " (" + field_names[i] + ") is \"" +
                     std::string(at, std::min<std::size_t>(static_cast<std::size_t>(word_end - at), 40)) +
                     "\": it must be an integer, -1 when not known"};
}

}  // namespace

Result<SwfJob> parse_swf_line(std::string_view line) {
    SwfJob job;
    const char* at = line.data();
    const char* const end = at + line.size();
    for (std::size_t i = 0; i < field_count; i++) {
        while (at != end && is_blank(*at)) {
            ++at;
        }
        if (at == end) {
            return Error{std::errc::invalid_argument, "has " + std::to_string(i) + " fields; a job line has 18"};
        }
        const char* const begin = at;
        auto [after, error] = std::from_chars(at, end, job.*fields[i]);
        if (error == std::errc{} && i == cpu_used_field && after != end && *after == '.') {
            ++after;
            while (after != end && *after >= '0' && *after <= '9') {
                ++after;
            }
        }
        if (error != std::errc{} || (after != end && !is_blank(*after))) {
            return bad_field(i, begin, end);
        }
        at = after;
    }
    while (at != end && is_blank(*at)) {
        ++at;
    }
    if (at != end) {
        return Error{std::errc::invalid_argument, "has more than 18 fields"};
    }
    return job;
}

std::string write_swf_line(const SwfJob& job) {
    std::string out;
    for (const auto field : fields) {
        out += out.empty() ? "" : " ";
        out += std::to_string(job.*field);
    }
    return out;
}

SwfReader::SwfReader(Source source, std::string name, Options options)
    : source_(std::move(source)), name_(std::move(name)), options_(options), buffer_(4 * line_max) {}

Result<SwfReader> SwfReader::open(const std::string& path, Options options) {
    std::shared_ptr<gzFile_s> file(gzopen(path.c_str(), "rb"), [](gzFile_s* f) {
        if (f != nullptr) {
            gzclose(f);
        }
    });
    if (!file) {
        return Error{static_cast<std::errc>(errno != 0 ? errno : ENOMEM), path + ": " + std::strerror(errno)};
    }
    gzbuffer(file.get(), 256 * 1024);
    auto source = [file](char* into, std::size_t size) -> Result<std::size_t> {
        const int count = gzread(file.get(), into, static_cast<unsigned>(size));
        int code = Z_OK;
        const char* why = gzerror(file.get(), &code);
        if (count < 0 || (count == 0 && code == Z_BUF_ERROR)) {
            return Error{std::errc::io_error, count < 0 ? std::string(why) : "the gzip stream ends too early"};
        }
        return static_cast<std::size_t>(count);
    };
    return SwfReader(std::move(source), path, options);
}

Error SwfReader::at_line(const std::string& what) const {
    return Error{std::errc::invalid_argument, name_ + ":" + std::to_string(line_) + ": " + what};
}

/// Reads more behind what is not consumed; false at the end of the source.
Result<bool> SwfReader::fill() {
    if (at_end_) {
        return false;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    auto count = source_(buffer_.data() + end_, buffer_.size() - end_);
    if (!count) {
        return Error{count.error().code,
                     name_ + ": after line " + std::to_string(line_) + ": " + count.error().message};
    }
    at_end_ = *count == 0;
    end_ += *count;
    return !at_end_;
}

Result<std::optional<std::string_view>> SwfReader::next_line() {
    std::size_t searched = begin_;
    while (true) {
        const void* newline = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
        if (newline != nullptr) {
            const auto at = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
            const std::string_view line(buffer_.data() + begin_, at - begin_);
            begin_ = at + 1;
            line_++;
            return std::optional(line);
        }
        if (end_ - begin_ > line_max) {
            line_++;
            return at_line("longer than 65536 bytes: this is not a workload log");
        }
        const std::size_t done = end_ - begin_;
        auto more = fill();
        if (!more) {
            return more.error();
        }
        searched = begin_ + done;
        if (!*more) {
            break;
        }
    }
    if (begin_ == end_) {
        return std::optional<std::string_view>();
    }
    const std::string_view line(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_;
    line_++;
    return std::optional(line);
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
        if (std::from_chars(value.data(), value.data() + value.size(), processors).ec == std::errc{} &&
            processors > 0) {
            max_processors_ = processors;
        }
    }
    if (!saw_job_) {
        header_.emplace_back(line);
    }
}

Result<std::optional<SwfJob>> SwfReader::next() {
    while (true) {
        auto line = next_line();
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
            return at_line(job.error().message);
        }
        skipped_++;
        if (first_skip_.empty()) {
            first_skip_ = at_line(job.error().message).message;
        }
    }
}

}  // namespace weir
