// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a lock so that one `weir start` at a time writes into a folder of settings and state. flock(2) ends with the
// process, so a killed process never blocks the next. Must not know what the folder holds.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

class FolderLock {
  public:
    /// Errors: EADDRINUSE with the process id of the holder; the system's, with the path.
    static Result<FolderLock> take(const std::string& folder) {
        const std::string path = folder + "/start.lock";
        FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (lock.fd_ >= 0 && flock(lock.fd_, LOCK_EX | LOCK_NB) == 0) {
            const std::string pid = std::to_string(getpid()) + "\n";
            if (ftruncate(lock.fd_, 0) < 0 || pwrite(lock.fd_, pid.data(), pid.size(), 0) < 0) {
                return Error{static_cast<std::errc>(errno), "cannot write " + path + ": " + std::strerror(errno)};
            }
            return lock;
        }
        if (lock.fd_ < 0 || errno != EWOULDBLOCK) {
            return Error{static_cast<std::errc>(errno), "cannot lock " + path + ": " + std::strerror(errno)};
        }
        char holder[32] = {};
        const ssize_t n = pread(lock.fd_, holder, sizeof(holder) - 1, 0);
        const std::string pid(holder, n > 0 ? std::strcspn(holder, "\n") : 0);
        return Error{std::errc::address_in_use, folder + " is in use by weir start with process id " +
                                                    (pid.empty() ? "unknown" : pid) +
                                                    ".\nGive this one a folder of its own:  weir start --statedir DIR"};
    }
    FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FolderLock& operator=(FolderLock&&) = delete;
    ~FolderLock() {
        if (fd_ >= 0) {
            close(fd_);
        }
    }

  private:
    explicit FolderLock(int fd) : fd_(fd) {}
    int fd_;
};

}  // namespace weir::cmd
