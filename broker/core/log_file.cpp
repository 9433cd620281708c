// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see log_file.hpp.
#include "broker/core/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::broker {
namespace {

bool are_same_file(int a, int b) {
    struct stat first {};
    struct stat second {};
    return a >= 0 && b >= 0 && fstat(a, &first) == 0 && fstat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

LogFile::~LogFile() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Status LogFile::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0) {
        return Error{static_cast<std::errc>(errno), "log file " + path + ": " + std::strerror(errno)};
    }
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        if (are_same_file(stream, fd_)) {
            dup2(fd, stream);
        }
    }
    const int old = std::exchange(fd_, fd);
    if (old >= 0) {
        ::close(old);
    }
    path_ = path;
    return Done{};
}

Status LogFile::append(const std::string& text) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n == static_cast<ssize_t>(text.size())) {
        is_line_torn_ = false;
        return Done{};
    }
    const int why = n < 0 ? errno : ENOSPC;
    is_line_torn_ = is_line_torn_ || n > 0;
    return Error{static_cast<std::errc>(why), "log file " + path_ + ": " + std::strerror(why)};
}

Status LogFile::write(std::string_view line) {
    std::string text = is_line_torn_ ? "\n" : "";
    if (lost_ > 0) {
        text += "(" + std::to_string(lost_) + " lines were lost here: the file could not be written)\n";
    }
    text.append(line).append("\n");
    Status done = append(text);
    lost_ = done ? 0 : lost_ + 1;
    return done;
}

}  // namespace weir::broker
