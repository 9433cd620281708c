// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the buffer.
#include "libsched/sim/line_reader.hpp"

#include <algorithm>
#include <cstring>

#include "libsched/sim/inflated_file.hpp"
#include "libsched/sim/read_ahead.hpp"

namespace weir {
namespace {

constexpr std::string_view mark = "\xEF\xBB\xBF";  // UTF-8's byte order mark, which some editors write
constexpr std::size_t piece_bytes = 64 * 1024;     // what the source is asked for at a time, at least

}  // namespace

LineReader::LineReader(Source source, std::string name, std::size_t line_max)
    : source_(std::move(source)), name_(std::move(name)), line_max_(line_max), buffer_(2 * piece_bytes) {}

Result<LineReader> LineReader::open(const std::string& path, std::size_t line_max) {
    auto file = open_inflated(path);
    if (!file) {
        return file.error();
    }
    LineReader reader(read_ahead(std::move(file->read)), path == "-" ? "standard input" : path, line_max);
    reader.part_ = std::move(file->part_read);
    return reader;
}

Error LineReader::at_line(const std::string& what) const {
    return Error{std::errc::invalid_argument, name_ + ":" + std::to_string(line_) + ": " + what};
}

/// Reads more behind what is not consumed; false at the end of the source.
Result<bool> LineReader::fill() {
    if (at_end_) {
        return false;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (buffer_.size() - end_ < piece_bytes) {
        buffer_.resize(std::max(buffer_.size() * 2, end_ + piece_bytes));
    }
    auto count = source_(buffer_.data() + end_, buffer_.size() - end_);
    if (!count) {
        return Error{
            count.error().code,
            name_ + ": " + (line_ > 0 ? "after line " + std::to_string(line_) + ": " : "") + count.error().message};
    }
    at_end_ = *count == 0;
    end_ += *count;
    return !at_end_;
}

Status LineReader::skip_byte_order_mark() {
    while (!is_begun_) {
        const std::string_view seen(buffer_.data() + begin_, std::min(end_ - begin_, mark.size()));
        is_begun_ = seen.size() == mark.size() || !mark.starts_with(seen);
        if (seen == mark) {
            begin_ += mark.size();
        } else if (!is_begun_) {
            const auto more = fill();
            if (!more) {
                return more.error();
            }
            is_begun_ = !*more;
        }
    }
    return Done{};
}

Result<char> LineReader::front() {
    if (auto skipped = skip_byte_order_mark(); !skipped) {
        return skipped.error();
    }
    while (begin_ == end_) {
        auto more = fill();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            return '\0';
        }
    }
    return buffer_[begin_];
}

Result<std::optional<std::string_view>> LineReader::next() {
    if (auto skipped = skip_byte_order_mark(); !skipped) {
        return skipped.error();
    }
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
        if (end_ - begin_ > line_max_) {
            line_++;
            return at_line("longer than " + std::to_string(line_max_) + " bytes: this is not a workload log");
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
    is_terminated_ = false;
    line_++;
    return std::optional(line);
}

}  // namespace weir
