// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the file's bytes before they are inflated: where a member begins, and what is none.
#include "libsched/sim/inflated_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "libsched/sim/inflate.hpp"

namespace weir {
namespace {

Error system_error(const std::string& before = "") {
    return Error{static_cast<std::errc>(errno), before + std::strerror(errno)};
}

class File {
  public:
    File(int fd, std::int64_t size) : fd_(fd), size_(size) {}
    ~File() { ::close(fd_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) {
        while (kind_ != Kind::plain) {
            if (kind_ == Kind::unknown || is_between_members_) {
                if (auto more = fill(2); !more) {
                    return more.error();
                }
                const bool is_gzip = left_ >= 2 && at_[0] == 0x1f && at_[1] == 0x8b;
                if (!is_gzip && kind_ == Kind::gzip) {
                    return end_behind_members();
                }
                kind_ = is_gzip ? Kind::gzip : Kind::plain;
                is_between_members_ = false;
                continue;
            }
            auto count = inflate(into, size);
            if (!count || *count > 0) {
                return count;
            }
        }
        if (auto more = fill(1); !more) {
            return more.error();
        }
        const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(size, left_));
        std::copy_n(at_, count, into);
        consume(count);
        return std::size_t{count};
    }
    double part_read() const {
        return size_ > 0 ? std::min(1., static_cast<double>(read_) / static_cast<double>(size_)) : 0.;
    }

  private:
    enum class Kind { unknown, plain, gzip };

    void consume(std::uint32_t count) {
        at_ += count;
        left_ -= count;
    }

    /// At least so many bytes to look at, or all there are.
    Status fill(std::uint32_t least) {
        if (left_ >= least) {
            return Done{};
        }
        std::copy_n(at_, left_, buffer_.data());
        at_ = buffer_.data();
        while (left_ < least) {
            const ssize_t count = ::read(fd_, buffer_.data() + left_, buffer_.size() - left_);
            if (count == 0) {
                break;
            }
            if (count < 0) {
                if (errno == EINTR) {
                    continue;
                }
                return system_error();
            }
            left_ += static_cast<std::uint32_t>(count);
            read_ += count;
        }
        return Done{};
    }

    /// Some of the present member; 0: it ended.
    Result<std::size_t> inflate(char* into, std::size_t size) {
        const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(size, UINT32_MAX));
        Inflate::Bytes bytes;
        bytes.out = reinterpret_cast<std::uint8_t*>(into);
        bytes.out_left = room;
        while (bytes.out_left == room) {
            if (auto more = fill(1); !more) {
                return more.error();
            }
            const bool is_end = left_ == 0;
            bytes.in = at_;
            bytes.in_left = left_;
            const Inflate::Got got = inflate_.inflate(bytes);
            consume(left_ - bytes.in_left);
            if (got == Inflate::Got::broken) {
                return Error{std::errc::io_error, "broken gzip stream"};
            }
            if (got == Inflate::Got::end) {
                is_between_members_ = true;
                break;
            }
            if (is_end && bytes.out_left == room) {
                return Error{std::errc::io_error, "the gzip stream ends too early: the file was cut off"};
            }
        }
        return std::size_t{room - bytes.out_left};
    }

    /// Reads what is no member. Zero bytes are no data: tapes and tar fill their last block with them.
    Result<std::size_t> end_behind_members() {
        while (true) {
            if (auto more = fill(1); !more) {
                return more.error();
            }
            if (left_ == 0) {
                break;
            }
            const bool has_data = std::any_of(at_, at_ + left_, [](std::uint8_t byte) { return byte != 0; });
            is_padding_ = is_padding_ && !has_data;
            behind_ += left_;
            consume(left_);
        }
        if (is_padding_) {
            return std::size_t{0};
        }
        return Error{std::errc::io_error,
                     std::to_string(behind_) +
                         (behind_ == 1 ? " byte behind the gzip stream is" : " bytes behind the gzip stream are") +
                         " no gzip member"};
    }

    int fd_;
    std::int64_t size_;
    std::atomic<std::int64_t> read_{0};
    Kind kind_ = Kind::unknown;
    bool is_between_members_ = false;
    std::uint64_t behind_ = 0;  ///< bytes behind the last member
    bool is_padding_ = true;    ///< all of them are 0
    Inflate inflate_;
    std::array<std::uint8_t, 64 * 1024> buffer_{};
    const std::uint8_t* at_ = buffer_.data();  ///< read and not consumed
    std::uint32_t left_ = 0;
};

}  // namespace

Result<InflatedFile> open_inflated(const std::string& path) {
    const int fd = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
        const Error error = system_error(path + ": ");
        if (fd >= 0) {
            ::close(fd);
        }
        return error;
    }
    auto file = std::make_shared<File>(fd, S_ISREG(info.st_mode) ? info.st_size : 0);
    return InflatedFile{[file](char* into, std::size_t size) { return file->read(into, size); },
                        [file] { return file->part_read(); }};
}

}  // namespace weir
