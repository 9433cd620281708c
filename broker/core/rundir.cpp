// SPDX-License-Identifier: LGPL-3.0-only
// Owns: making, locking and clearing of the run directory. The lock is flock(2), which dies with the process, so that a
// killed instance never blocks the next. Must not know the socket's protocol.
#include "broker/core/rundir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "broker/api/private_dir.hpp"

namespace weir::broker {
namespace {

constexpr const char* lock_name = "broker.pid";

Error rundir_failed(const std::string& path, const std::string& what) {
    return {static_cast<std::errc>(errno), "rundir " + path + ": " + what + ": " + std::strerror(errno)};
}

std::string read_pid(int fd) {
    char text[32] = {};
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    std::string pid(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!pid.empty() && pid.back() == '\n') {
        pid.pop_back();
    }
    return pid.empty() ? "unknown" : pid;
}

}  // namespace

Result<Rundir> Rundir::open(std::string path) {
    Rundir dir;
    if (path.empty()) {
        const char* tmp = std::getenv("TMPDIR");
        std::string fresh = std::string(tmp != nullptr && *tmp != '\0' ? tmp : "/tmp") + "/weir-XXXXXX";
        if (mkdtemp(fresh.data()) == nullptr) {
            return rundir_failed(fresh, "cannot make it");
        }
        path = fresh;
        dir.is_made_here_ = true;
    } else if (const auto is_made = make_private_dir(path)) {
        dir.is_made_here_ = *is_made;
    } else {
        return Error{is_made.error().code, "rundir: " + is_made.error().message};
    }
    const auto fd = open_private_dir(path);
    if (!fd) {
        return Error{fd.error().code, "rundir: " + fd.error().message};
    }
    dir.dir_fd_ = *fd;
    std::error_code no_path;
    dir.path_ = std::filesystem::canonical(path, no_path).string();
    if (no_path) {
        return Error{static_cast<std::errc>(no_path.value()), "rundir " + path + ": " + no_path.message()};
    }
    if (auto locked = dir.lock(); !locked) {
        dir.is_made_here_ = false;
        return locked.error();
    }
    return dir;
}

Status Rundir::lock() {
    for (;;) {
        const int fd = openat(dir_fd_, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0) {
            return rundir_failed(path_, "cannot write to it");
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            const std::string pid = read_pid(fd);
            ::close(fd);
            return Error{std::errc::address_in_use, "rundir " + path_ + " is in use by pid " + pid};
        }
        struct stat held {};
        struct stat named {};
        fstat(fd, &held);
        if (fstatat(dir_fd_, lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == named.st_ino) {
            lock_fd_ = fd;
            break;
        }
        ::close(fd);  // its former holder has just removed the file: the next one is ours to make
    }
    const std::string pid = std::to_string(getpid()) + "\n";
    if (ftruncate(lock_fd_, 0) < 0 || pwrite(lock_fd_, pid.data(), pid.size(), 0) < 0) {
        return rundir_failed(path_, "cannot write to it");
    }
    return Done{};
}

Rundir::Rundir(Rundir&& other) noexcept
    : path_(std::move(other.path_)),
      dir_fd_(std::exchange(other.dir_fd_, -1)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      is_made_here_(std::exchange(other.is_made_here_, false)) {}

void Rundir::remove() {
    if (lock_fd_ >= 0) {
        unlinkat(dir_fd_, lock_name, 0);
        ::close(std::exchange(lock_fd_, -1));
    }
    if (std::exchange(is_made_here_, false)) {
        rmdir(path_.c_str());
    }
}

Rundir::~Rundir() {
    remove();
    if (dir_fd_ >= 0) {
        ::close(dir_fd_);
    }
}

std::string Rundir::short_path(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(dir_fd_) + "/" + name;
}

}  // namespace weir::broker
