// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see clock_file.hpp.
#include "broker/core/clock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::broker {
namespace {

Error failed(const std::string& what, const std::string& path) {
    const int errnum = errno;
    return Error{static_cast<std::errc>(errnum), "statedir: " + what + " " + path + ": " + std::strerror(errnum)};
}

}  // namespace

Result<ClockFile> ClockFile::open(const std::string& statedir) {
    const std::string path = statedir + "/clock";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return failed("cannot open", path);
    }
    ClockFile file(path, fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) < 0) {
        return Error{std::errc::device_or_resource_busy,
                     "statedir: " + statedir + " is in use by another instance; give this one its own statedir"};
    }
    std::array<char, 256> text{};
    const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
    if (size < 0) {
        return failed("cannot read", path);
    }
    file.past_ = decode_clock({text.data(), static_cast<std::size_t>(size)});
    file.is_damaged_ = size > 0 && !file.past_;
    return file;
}

ClockFile::ClockFile(ClockFile&& other) noexcept {
    *this = std::move(other);
}

ClockFile& ClockFile::operator=(ClockFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    std::swap(past_, other.past_);
    std::swap(is_damaged_, other.is_damaged_);
    return *this;
}

ClockFile::~ClockFile() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Status ClockFile::mark(const ClockPast& now) {
    const std::string line = encode(now);
    const ssize_t size = ::pwrite(fd_, line.data(), line.size(), 0);
    if (size == static_cast<ssize_t>(line.size())) {
        (void)::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
        return Done{};
    }
    errno = size < 0 ? errno : ENOSPC;
    return failed("cannot write", path_);
}

}  // namespace weir::broker
