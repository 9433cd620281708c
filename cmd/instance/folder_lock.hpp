// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a lock on a folder, so that one `weir start` at a time uses it, or no broker lives in it. flock(2) ends with
// the process, so a killed process never blocks the next. Must not know what else the folder holds.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

class FolderLock {
  public:
    static constexpr const char* of_start = "start.lock";   ///< held by `weir start`
    static constexpr const char* of_broker = "broker.pid";  ///< held by the broker whose run directory it is

    /// `name`: one of the above. Its holder may remove the file.
    /// Errors: EADDRINUSE with the process id of the holder; the system's, with the path.
    static Result<FolderLock> take(const std::string& folder, const char* name) {
        const std::string path = folder + "/" + name;
        for (;;) {
            FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
            if (lock.fd_ < 0 || flock(lock.fd_, LOCK_EX | LOCK_NB) < 0) {
                return lock.refusal(folder, path);
            }
            if (!lock.is_at(path)) {
                continue;  // its former holder has just removed the file: the next one is ours to make
            }
            const std::string pid = std::to_string(getpid()) + "\n";
            if (ftruncate(lock.fd_, 0) < 0 || pwrite(lock.fd_, pid.data(), pid.size(), 0) < 0) {
                return Error{static_cast<std::errc>(errno), "cannot write " + path + ": " + std::strerror(errno)};
            }
            return lock;
        }
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

    bool is_at(const std::string& path) const {
        struct stat held {};
        struct stat named {};
        return fstat(fd_, &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino;
    }

    Error refusal(const std::string& folder, const std::string& path) const {
        if (fd_ < 0 || errno != EWOULDBLOCK) {
            return Error{static_cast<std::errc>(errno), "cannot lock " + path + ": " + std::strerror(errno)};
        }
        char holder[32] = {};
        const ssize_t n = pread(fd_, holder, sizeof(holder) - 1, 0);
        const std::string pid(holder, n > 0 ? std::strcspn(holder, "\n") : 0);
        return Error{std::errc::address_in_use,
                     folder + " is in use by weir start with process id " + (pid.empty() ? "unknown" : pid) + "."};
    }

    int fd_;
};

}  // namespace weir::cmd
