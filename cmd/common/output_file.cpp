// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the temporary file, its compression and the rename.
#include "cmd/common/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weir::cmd {
namespace {

constexpr std::size_t pending_max = 256 * 1024;

bool ends_in_gz(const std::string& path) {
    return path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
}

/// A device, a pipe, or stdout: nothing to rename. /dev/stdout and /dev/fd/1 are links that must stay, though they may
/// lead to a file.
bool is_stream(const std::string& path) {
    const auto is_below = [&path](const char* folder) { return path.rfind(folder, 0) == 0; };
    if (is_below("/dev/std") || is_below("/dev/fd/") || is_below("/proc/")) {
        return true;
    }
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
    OutputFile file(path);
    if (path == "-") {
        file.fd_ = fcntl(1, F_DUPFD_CLOEXEC, 3);
    } else if (is_stream(path)) {
        file.fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        file.temporary_ = path + ".XXXXXX";
        file.fd_ = mkostemp(file.temporary_.data(), O_CLOEXEC);
        if (file.fd_ >= 0) {
            const mode_t mask = umask(0);
            umask(mask);
            (void)fchmod(file.fd_, 0666 & ~mask);
        }
    }
    if (file.fd_ < 0) {
        file.temporary_.clear();
        return file.failed("cannot write");
    }
    if (ends_in_gz(path)) {
        file.gzip_ = gzdopen(file.fd_, "wb6");
        if (file.gzip_ == nullptr) {
            return file.failed("cannot write");
        }
    }
    return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      gzip_(std::exchange(other.gzip_, nullptr)),
      pending_(std::move(other.pending_)) {
    other.temporary_.clear();
}

OutputFile::~OutputFile() {
    if (gzip_ != nullptr) {
        gzclose(static_cast<gzFile>(gzip_));  // closes the descriptor too
    } else if (fd_ >= 0) {
        close(fd_);
    }
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
    }
}

Error OutputFile::failed(const char* what) const {
    return Error{static_cast<std::errc>(errno), path_ + ": " + what + ": " + std::strerror(errno)};
}

Status OutputFile::write(std::string_view text) {
    pending_ += text;
    return pending_.size() < pending_max ? Status(Done{}) : flush();
}

Status OutputFile::flush() {
    std::string_view left = pending_;
    while (!left.empty()) {
        const auto size = static_cast<unsigned>(std::min(left.size(), pending_max));
        errno = 0;
        const ssize_t count =
            gzip_ != nullptr ? gzwrite(static_cast<gzFile>(gzip_), left.data(), size) : ::write(fd_, left.data(), size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            errno = errno != 0 ? errno : EIO;
            return failed("cannot write");
        }
        left.remove_prefix(static_cast<std::size_t>(count));
    }
    pending_.clear();
    return Done{};
}

/// Writes all of it to the disk, under the temporary name still.
Status OutputFile::finish() {
    if (auto done = flush(); !done) {
        return done;
    }
    errno = 0;
    const int synced = fcntl(fd_, F_DUPFD_CLOEXEC, 3);  // gzclose() writes the last bytes, and closes
    const bool is_closed = gzip_ != nullptr ? gzclose(static_cast<gzFile>(gzip_)) == Z_OK : close(fd_) == 0;
    gzip_ = nullptr;
    fd_ = -1;
    const bool is_synced = synced >= 0 && (temporary_.empty() || fsync(synced) == 0);
    const int errnum = errno != 0 ? errno : EIO;
    close(synced);
    errno = errnum;
    return is_closed && is_synced ? Status(Done{}) : Status(failed("cannot write"));
}

Status OutputFile::commit() {
    if (auto done = finish(); !done) {
        return done;
    }
    if (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return failed("cannot write");
    }
    temporary_.clear();
    return Done{};
}

Status OutputFile::commit_together(std::initializer_list<OutputFile*> files) {
    for (OutputFile* file : files) {
        if (auto done = file->finish(); !done) {
            return done;
        }
    }
    for (auto at = files.begin(); at != files.end(); ++at) {
        if (auto done = (*at)->put_in_place(); !done) {
            std::for_each(files.begin(), at, [](OutputFile* file) { file->take_back(); });
            return done;
        }
    }
    return Done{};
}

/// Leaves what stood there under the temporary name, so that the destructor removes it.
Status OutputFile::put_in_place() {
    if (temporary_.empty()) {
        return Done{};
    }
    if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
        before_ = Before::another;
        return Done{};
    }
    before_ = errno == ENOENT ? Before::nothing : Before::unknown;
    return std::rename(temporary_.c_str(), path_.c_str()) == 0 ? Status(Done{}) : Status(failed("cannot write"));
}

void OutputFile::take_back() {
    if (before_ == Before::another) {
        (void)renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE);
    } else if (before_ == Before::nothing) {
        (void)unlink(path_.c_str());
    }
}

std::string format_of(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    name = ends_in_gz(name) ? name.substr(0, name.size() - 3) : name;
    const std::size_t dot = name.rfind('.');
    std::string format = dot == std::string::npos ? "" : name.substr(dot + 1);
    std::transform(format.begin(), format.end(), format.begin(), [](unsigned char c) { return std::tolower(c); });
    return format;
}

}  // namespace weir::cmd
