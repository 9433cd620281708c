// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see log_tail.hpp.
#include "cmd/instance/log_tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace weir::cmd {

LogTail::LogTail(std::string path) : path_(std::move(path)) {
    if (open_current()) {
        lseek(fd_, 0, SEEK_END);
    }
}

LogTail::LogTail(LogTail&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), text_(std::move(other.text_)) {}

LogTail::~LogTail() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

/// Opens what the path names now. \return false if that is what is open already, or nothing.
bool LogTail::open_current() {
    struct stat named {};
    struct stat held {};
    if (stat(path_.c_str(), &named) < 0 || !S_ISREG(named.st_mode) ||
        (fd_ >= 0 && fstat(fd_, &held) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)) {
        return false;
    }
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return false;
    }
    if (fd_ >= 0) {
        close(fd_);
    }
    fd_ = fd;
    return true;
}

void LogTail::read_rest() {
    char buffer[65536];
    for (ssize_t n = 1; fd_ >= 0 && n > 0;) {
        n = read(fd_, buffer, sizeof(buffer));
        text_.append(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
    }
}

std::vector<std::string> LogTail::lines() {
    read_rest();
    if (open_current()) {
        read_rest();
    }
    std::vector<std::string> found;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
        found.push_back(text_.substr(begin, end - begin));
    }
    text_.erase(0, begin);
    return found;
}

}  // namespace weir::cmd
