// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see files.hpp.
#include "broker/services/job-manager/journal/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weir::broker::jobs {

Error io_error(const std::string& owner, const std::string& what, const std::string& path) {
    const int errnum = errno;
    return Error{static_cast<std::errc>(errnum), owner + ": " + what + " " + path + ": " + std::strerror(errnum)};
}

Status write_all(int fd, std::string_view bytes, const std::string& owner, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return io_error(owner, "cannot write", path);
        }
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

Status sync_folder_of(const std::string& path, const std::string& owner) {
    const int fd = ::open(path.substr(0, path.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL);
    const Status done = is_synced ? Status(Done{}) : Status(io_error(owner, "cannot sync the folder of", path));
    if (fd >= 0) {
        ::close(fd);
    }
    return done;
}

Result<int> replace_file(const std::string& path, std::string_view bytes, const std::string& owner) {
    const std::string beside = path + ".new";
    ::unlink(beside.c_str());
    const int fd = ::open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        return io_error(owner, "cannot open", beside);
    }
    Status done = write_all(fd, bytes, owner, beside);
    if (done && (::fsync(fd) < 0 || ::flock(fd, LOCK_EX | LOCK_NB) < 0 || ::rename(beside.c_str(), path.c_str()) < 0)) {
        done = io_error(owner, "cannot replace", path);
    }
    if (!done) {
        ::close(fd);
        ::unlink(beside.c_str());
        return done.error();
    }
    return fd;
}

}  // namespace weir::broker::jobs
