// SPDX-License-Identifier: LGPL-3.0-only
// Owns: inflating by zlib, which reads plain files through the same calls as gzip ones.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "libsched/sim/inflated_file.hpp"

namespace weir {
namespace {

constexpr unsigned compressed_piece =
    32 * 1024;  // less than half of what we ask for: zlib then inflates straight into it

class File {
  public:
    static Result<std::shared_ptr<File>> open(const std::string& path) {
        const auto failed = [&path] {
            return Error{static_cast<std::errc>(errno != 0 ? errno : ENOMEM), path + ": " + std::strerror(errno)};
        };
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            return failed();
        }
        struct stat info {};
        gzFile handle = ::fstat(fd, &info) == 0 ? gzdopen(fd, "rb") : nullptr;
        if (handle == nullptr) {
            const Error error = failed();
            ::close(fd);
            return error;
        }
        gzbuffer(handle, compressed_piece);
        return std::shared_ptr<File>(new File(handle, S_ISREG(info.st_mode) ? info.st_size : 0));
    }
    ~File() { gzclose(handle_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<std::size_t> read(char* into, std::size_t size) {
        errno = 0;
        const int count = gzread(handle_, into, static_cast<unsigned>(size));
        int code = Z_OK;
        const char* why = gzerror(handle_, &code);
        if (code == Z_BUF_ERROR && count <= 0) {  // what came before the end is given first
            return Error{std::errc::io_error, "the gzip stream ends too early: the file was cut off"};
        }
        if (count < 0) {
            return Error{static_cast<std::errc>(code == Z_ERRNO ? errno : EIO),
                         code == Z_ERRNO ? std::strerror(errno) : "broken gzip stream: " + std::string(why)};
        }
        read_ = gzoffset(handle_);
        return static_cast<std::size_t>(count);
    }
    double part_read() const {
        return size_ > 0 ? std::min(1., static_cast<double>(read_) / static_cast<double>(size_)) : 0.;
    }

  private:
    File(gzFile handle, off_t size) : handle_(handle), size_(size) {}
    gzFile handle_;
    off_t size_;
    std::atomic<std::int64_t> read_{0};
};

}  // namespace

Result<InflatedFile> open_inflated(const std::string& path) {
    auto file = File::open(path);
    if (!file) {
        return file.error();
    }
    return InflatedFile{[file = *file](char* into, std::size_t size) { return file->read(into, size); },
                        [file = *file] { return file->part_read(); }};
}

}  // namespace weir
