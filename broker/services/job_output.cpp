// SPDX-License-Identifier: LGPL-3.0-only
// Owns: making, reading and removing of output files. Must not know processes or messages.
#include "broker/services/job_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "broker/api/private_dir.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t part_bytes_max = 256 * 1024;

/// Length of the valid UTF-8 sequence that begins at `at`, 0 if there is none, -1 if the text ends too early.
int sequence_length(const std::string& s, std::size_t at) {
    const auto byte = [&s](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) {
        return 1;
    }
    const int length = first >= 0xc2 && first < 0xe0   ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
    for (int i = 1; i < length; ++i) {
        if (at + static_cast<std::size_t>(i) >= s.size()) {
            return -1;
        }
        const unsigned char next = byte(at + static_cast<std::size_t>(i));
        const bool is_overlong = i == 1 && ((first == 0xe0 && next < 0xa0) || (first == 0xf0 && next < 0x90));
        const bool is_outside = i == 1 && ((first == 0xed && next > 0x9f) || (first == 0xf4 && next > 0x8f));
        if ((next & 0xc0) != 0x80 || is_overlong || is_outside) {
            return 0;
        }
    }
    return length;
}

const char* suffix_of(OutputStream stream) {
    return stream == OutputStream::out ? ".out" : ".err";
}

/// Bytes at the end that begin a sequence which the next part will complete.
std::size_t unfinished_tail(const std::string& bytes) {
    for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
        if (sequence_length(bytes, bytes.size() - back) < 0) {
            return back;
        }
    }
    return 0;
}

}  // namespace

std::string to_utf8(const std::string& bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size();) {
        const int length = sequence_length(bytes, i);
        if (length > 0) {
            text.append(bytes, i, static_cast<std::size_t>(length));
            i += static_cast<std::size_t>(length);
        } else {
            text += "\xef\xbf\xbd";
            ++i;
        }
    }
    return text;
}

JobOutput::JobOutput(std::string dir, bool is_temporary) : dir_(std::move(dir)), is_temporary_(is_temporary) {}

JobOutput::~JobOutput() {
    if (is_temporary_) {
        std::error_code ignored;
        std::filesystem::remove_all(dir_, ignored);
    }
}

Result<int> JobOutput::open(const std::string& job, const std::string& named, OutputStream stream, OpenMode mode) {
    if (const auto is_made = make_private_dir(dir_); !is_made) {
        return is_made.error();
    }
    const std::string own = own_path(job, stream);
    if (!named.empty()) {
        ::unlink(own.c_str());
        if (::symlink(std::filesystem::absolute(named).c_str(), own.c_str()) < 0) {
            return Error{static_cast<std::errc>(errno), "cannot make the link " + own + ": " + std::strerror(errno)};
        }
    }
    const std::string file = named.empty() ? own : named;
    const int truncate = mode == OpenMode::truncate ? O_TRUNC : 0;
    const int special = named.empty() ? O_NOFOLLOW : truncate;  // a file that the user named may be a link of his own
    // A FIFO that nobody reads would block every job.
    const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | special, 0600);
    if (fd < 0) {
        return Error{static_cast<std::errc>(errno),
                     "cannot write the job's output file " + file + ": " +
                         (errno == ENXIO ? "it is a FIFO or a device that nobody reads" : std::strerror(errno))};
    }
    ::fcntl(fd, F_SETFL, O_APPEND);  // the tasks write as they are used to
    return fd;
}

std::string JobOutput::own_path(const std::string& job, OutputStream stream) const {
    return dir_ + "/" + job + suffix_of(stream);
}

/// A link to a file that the user named is itself linked, not followed.
Status JobOutput::add_name(const std::string& job, const std::string& prefix, OutputStream stream) {
    if (const auto is_made = make_private_dir(std::filesystem::path(prefix).parent_path()); !is_made) {
        return is_made.error();
    }
    const std::string name = prefix + suffix_of(stream);
    ::unlink(name.c_str());
    if (::link(own_path(job, stream).c_str(), name.c_str()) < 0) {
        return Error{static_cast<std::errc>(errno), "cannot make the link " + name + ": " + std::strerror(errno)};
    }
    return Done{};
}

std::string JobOutput::named_path(const std::string& job, OutputStream stream) const {
    std::error_code is_no_link;
    const auto named = std::filesystem::read_symlink(own_path(job, stream), is_no_link);
    return is_no_link ? std::string() : named.string();
}

std::string JobOutput::path(const std::string& job, OutputStream stream) const {
    const std::string named = named_path(job, stream);
    return named.empty() ? own_path(job, stream) : named;
}

Result<JobOutput::Part> JobOutput::read(const std::string& job, std::uint64_t offset, OutputStream stream) const {
    auto part = read_bytes(job, offset, stream);
    if (!part) {
        return part;
    }
    if (!part->is_end) {
        const std::size_t tail = unfinished_tail(part->text);
        part->text.resize(part->text.size() - tail);
        part->next -= tail;
    }
    part->text = to_utf8(part->text);
    return part;
}

Result<JobOutput::Part> JobOutput::read_bytes(const std::string& job, std::uint64_t offset, OutputStream stream) const {
    const std::string file = path(job, stream);
    const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return Error{static_cast<std::errc>(errno), "its output is not there: " + file + ": " + std::strerror(errno)};
    }
    std::string bytes(part_bytes_max, '\0');
    const ssize_t n = pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    struct stat about {};
    fstat(fd, &about);
    ::close(fd);
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    Part part;
    part.is_end = offset + bytes.size() >= static_cast<std::uint64_t>(about.st_size);
    part.next = offset + bytes.size();
    part.text = std::move(bytes);
    return part;
}

}  // namespace weir::broker
