// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the buffer and the file. zlib reads plain files through the same calls as gzip ones.
#include "libsched/sim/line_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "libsched/sim/read_ahead.hpp"

namespace weir {
namespace {

constexpr std::size_t piece = 64 * 1024;  // what the source is asked for at a time, at least
constexpr unsigned compressed_piece =
    32 * 1024;  // less than half of what we ask for: zlib then inflates straight into it

class File {
  public:
    static Result<std::shared_ptr<File>> open(const std::string& path) {
        const auto failed = [&path] {
            return Error{static_cast<std::errc>(errno != 0 ? errno : ENOMEM), path + ": " + std::strerror(errno)};
        };
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            return failed();
        }
        struct stat info {};
        gzFile handle = ::fstat(fd, &info) == 0 ? gzdopen(fd, "rb") : nullptr;
        if (handle == nullptr) {
            const Error error = failed();
            ::close(fd);
            return error;
        }
        gzbuffer(handle, compressed_piece);
        return std::shared_ptr<File>(new File(handle, S_ISREG(info.st_mode) ? info.st_size : 0));
    }
    ~File() { gzclose(handle_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) {
        errno = 0;
        const int count = gzread(handle_, into, static_cast<unsigned>(size));
        int code = Z_OK;
        const char* why = gzerror(handle_, &code);
        if (code == Z_BUF_ERROR) {
            return Error{std::errc::io_error, "the gzip stream ends too early: the file was cut off"};
        }
        if (count < 0) {
            return Error{static_cast<std::errc>(code == Z_ERRNO ? errno : EIO),
                         code == Z_ERRNO ? std::strerror(errno) : "broken gzip stream: " + std::string(why)};
        }
        return static_cast<std::size_t>(count);
    }
    double part_read() const {
        return size_ > 0 ? std::min(1., static_cast<double>(gzoffset(handle_)) / static_cast<double>(size_)) : 0.;
    }

  private:
    File(gzFile handle, off_t size) : handle_(handle), size_(size) {}
    gzFile handle_;
    off_t size_;
};

}  // namespace

LineReader::LineReader(Source source, std::string name, std::size_t line_max)
    : source_(std::move(source)), name_(std::move(name)), line_max_(line_max), buffer_(2 * piece) {}

Result<LineReader> LineReader::open(const std::string& path, std::size_t line_max) {
    auto file = File::open(path);
    if (!file) {
        return file.error();
    }
    LineReader reader(read_ahead([file = *file](char* into, std::size_t size) { return file->read(into, size); }), path,
                      line_max);
    reader.part_ = [file = *file] { return file->part_read(); };
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
    if (buffer_.size() - end_ < piece) {
        buffer_.resize(std::max(buffer_.size() * 2, end_ + piece));
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

Result<char> LineReader::front() {
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
