// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the checks and system calls behind private_dir.hpp. Must not know what the files are for.
#include "broker/api/private_dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weir::broker {
namespace {

Error system_error(const std::string& what) {
    const int errnum = errno;
    return Error{static_cast<std::errc>(errnum), what + ": " + std::strerror(errnum)};
}

Error not_private(const std::string& path, const std::string& why) {
    return Error{std::errc::operation_not_permitted, path + " " + why};
}

std::string user(uid_t uid) {
    return "user " + std::to_string(uid);
}

std::string octal(mode_t mode) {
    char text[16];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
    return text;
}

Status check_owner_and_mode(int fd, const std::string& path) {
    struct stat about {};
    if (fstat(fd, &about) < 0) {
        return system_error("cannot look at " + path);
    }
    if (about.st_uid != geteuid()) {
        return not_private(path, "belongs to " + user(about.st_uid) + ", not to " + user(geteuid()) +
                                     " who runs this: remove it or choose another directory");
    }
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return not_private(path, "may be written to by others (mode " + octal(about.st_mode) +
                                     "): chmod go-w it, or choose another directory");
    }
    return Done{};
}

}  // namespace

Result<int> open_private_dir(const std::string& given) {
    const std::string path = given.substr(0, given.find_last_not_of('/') + 1);  // lstat() follows "link/"
    struct stat name {};
    if (lstat(path.c_str(), &name) < 0) {
        return system_error("cannot open the directory " + path);
    }
    if (S_ISLNK(name.st_mode) && name.st_uid != geteuid() && name.st_uid != 0) {
        return not_private(
            path, "is a symbolic link that " + user(name.st_uid) + " made: remove it or choose another directory");
    }
    const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return system_error("cannot open the directory " + path);
    }
    if (auto is_private = check_owner_and_mode(fd, path); !is_private) {
        ::close(fd);
        return is_private.error();
    }
    return fd;
}

Status check_private_dir(const std::string& path) {
    const auto fd = open_private_dir(path);
    if (!fd) {
        return fd.error();
    }
    ::close(*fd);
    return Done{};
}

Result<bool> make_private_dir(const std::string& path) {
    const bool is_made = mkdir(path.c_str(), 0700) == 0;
    if (!is_made && errno != EEXIST) {
        return system_error("cannot make the directory " + path);
    }
    if (auto is_private = check_private_dir(path); !is_private) {
        return is_private.error();
    }
    return is_made;
}

Status write_private_file(const std::string& path, const std::string& text) {
    const std::string beside = path + ".new";
    unlink(beside.c_str());  // of a process that died while it wrote
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return system_error("cannot write " + beside);
    }
    std::size_t written = 0;
    bool is_whole = true;
    while (is_whole && written < text.size()) {
        const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
        is_whole = n >= 0 || errno == EINTR;
    }
    Status done = is_whole ? Status(Done{}) : Status(system_error("cannot write " + path));
    ::close(fd);
    if (done && rename(beside.c_str(), path.c_str()) < 0) {
        done = system_error("cannot write " + path);
    }
    if (!done) {
        unlink(beside.c_str());
    }
    return done;
}

}  // namespace weir::broker
