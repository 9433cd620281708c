// SPDX-License-Identifier: LGPL-3.0-only
// Owns: inflating by ISA-L, which takes a third of zlib's time.
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "libsched/sim/inflated_file.hpp"

namespace weir {
namespace {

Error system_error(const std::string& before = "") {
    return Error{static_cast<std::errc>(errno), before + std::strerror(errno)};
}

class File {
  public:
    File(int fd, std::int64_t size) : fd_(fd), size_(size) { isal_inflate_init(&state_); }
    ~File() { ::close(fd_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) {
        while (kind_ != Kind::plain) {
            if (kind_ == Kind::unknown || is_between_members_) {
                if (auto more = fill(2); !more) {
                    return more.error();
                }
                const bool is_gzip = state_.avail_in >= 2 && state_.next_in[0] == 0x1f && state_.next_in[1] == 0x8b;
                if (!is_gzip && kind_ == Kind::gzip) {
                    return std::size_t{0};
                }
                kind_ = is_gzip ? Kind::gzip : Kind::plain;
                state_.crc_flag = ISAL_GZIP;
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
        const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(size, state_.avail_in));
        std::copy_n(state_.next_in, count, into);
        state_.next_in += count;
        state_.avail_in -= count;
        return std::size_t{count};
    }
    double part_read() const {
        return size_ > 0 ? std::min(1., static_cast<double>(read_) / static_cast<double>(size_)) : 0.;
    }

  private:
    enum class Kind { unknown, plain, gzip };

    /// At least so many bytes to look at, or all there are.
    Status fill(std::uint32_t least) {
        if (state_.avail_in >= least) {
            return Done{};
        }
        std::copy_n(state_.next_in, state_.avail_in, buffer_.data());
        state_.next_in = buffer_.data();
        while (state_.avail_in < least) {
            const ssize_t count = ::read(fd_, buffer_.data() + state_.avail_in, buffer_.size() - state_.avail_in);
            if (count == 0) {
                break;
            }
            if (count < 0) {
                if (errno == EINTR) {
                    continue;
                }
                return system_error();
            }
            state_.avail_in += static_cast<std::uint32_t>(count);
            read_ += count;
        }
        return Done{};
    }

    /// Some of the present member; 0: it ended.
    Result<std::size_t> inflate(char* into, std::size_t size) {
        state_.next_out = reinterpret_cast<std::uint8_t*>(into);
        state_.avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(size, UINT32_MAX));
        const std::uint32_t room = state_.avail_out;
        while (state_.avail_out == room) {
            if (auto more = fill(1); !more) {
                return more.error();
            }
            const bool is_end = state_.avail_in == 0;
            if (isal_inflate(&state_) < 0) {
                return Error{std::errc::io_error, "broken gzip stream"};
            }
            if (state_.block_state == ISAL_BLOCK_FINISH) {
                isal_inflate_reset(&state_);
                is_between_members_ = true;
                break;
            }
            if (is_end && state_.avail_out == room) {
                return Error{std::errc::io_error, "the gzip stream ends too early: the file was cut off"};
            }
        }
        return std::size_t{room - state_.avail_out};
    }

    int fd_;
    std::int64_t size_;
    std::atomic<std::int64_t> read_{0};
    Kind kind_ = Kind::unknown;
    bool is_between_members_ = false;
    inflate_state state_{};
    std::array<std::uint8_t, 64 * 1024> buffer_{};
};

}  // namespace

Result<InflatedFile> open_inflated(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
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
