// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a library for LD_PRELOAD, for tests of files that must survive a power failure and of a disk that becomes full
// within a write. What it does is in two files that the environment names:
//   DISK_LOG   gets a line for each fsync and rename that succeeded: "fsync PATH", "rename FROM TO"
//   DISK_FULL  has a file's name without folder, if it exists: that file does not grow beyond its first bytes
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

namespace {

constexpr off_t room_bytes = 8;

std::string path_of(int fd) {
    char path[PATH_MAX];
    const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

void note(const std::string& line) {
    const char* log = std::getenv("DISK_LOG");
    const int fd = log != nullptr ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        (void)syscall(SYS_write, fd, (line + "\n").c_str(), line.size() + 1);
        close(fd);
    }
}

/// The file that does not grow, or nothing.
std::string full_file() {
    const char* control = std::getenv("DISK_FULL");
    const int fd = control != nullptr ? open(control, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return {};
    }
    char name[NAME_MAX + 1];
    const ssize_t length = read(fd, name, sizeof name);
    close(fd);
    const std::string text(name, length > 0 ? static_cast<std::size_t>(length) : 0);
    return text.substr(0, text.find('\n'));
}

bool is_full(int fd) {
    const std::string name = full_file();
    const std::string path = name.empty() ? name : path_of(fd);
    return !path.empty() && path.substr(path.rfind('/') + 1) == name;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) ssize_t write(int fd, const void* bytes, std::size_t count) {
    const int before = errno;
    struct stat about {};
    if (is_full(fd) && fstat(fd, &about) == 0) {
        if (about.st_size >= room_bytes) {
            errno = ENOSPC;
            return -1;
        }
        count = std::min(count, static_cast<std::size_t>(room_bytes - about.st_size));
    }
    errno = before;
    return syscall(SYS_write, fd, bytes, count);
}

__attribute__((visibility("default"))) int fsync(int fd) {
    const int done = static_cast<int>(syscall(SYS_fsync, fd));
    if (done == 0) {
        note("fsync " + path_of(fd));
    }
    return done;
}

__attribute__((visibility("default"))) int rename(const char* from, const char* to) noexcept {
    const int done = static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
    if (done == 0) {
        note(std::string("rename ") + from + " " + to);
    }
    return done;
}
}
