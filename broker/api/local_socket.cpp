// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see local_socket.hpp. Frame: magic 0xffee0012 in host order, length in network order, encoded message.
#include "broker/api/local_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weir::broker {
namespace {

constexpr size_t frame_header = 8;
constexpr size_t read_step = size_t{64} << 10;
constexpr size_t read_ahead_max = size_t{1} << 20;
constexpr size_t cred_from_end = 16;  // userid and rolemask in the proto frame, which is always last

Error errno_error(const std::string& what) {
    return Error{static_cast<std::errc>(errno), what + ": " + std::strerror(errno)};
}

/// Size of the frame at the front, header included; 0: not all of the header yet; -1: not a frame.
ssize_t frame_size(const char* bytes, size_t size) {
    if (size < frame_header) {
        return 0;
    }
    uint32_t magic = 0;
    uint32_t length = 0;
    std::memcpy(&magic, bytes, sizeof magic);
    std::memcpy(&length, bytes + sizeof magic, sizeof length);
    length = ntohl(length);
    if (magic != frame_magic || length > FramedStream::frame_bytes_max) {
        return -1;
    }
    return static_cast<ssize_t>(frame_header + length);
}

}  // namespace

Result<LocalAddress> LocalAddress::of(const std::string& path) {
    LocalAddress result;
    result.address_.sun_family = AF_UNIX;
    std::string usable = path;
    if (path.size() >= sizeof result.address_.sun_path) {
        const size_t slash = path.rfind('/');
        const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
        result.directory_ = open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (result.directory_ < 0) {
            return errno_error(directory);
        }
        usable = "/proc/self/fd/" + std::to_string(result.directory_) + "/" + path.substr(slash + 1);
        if (usable.size() >= sizeof result.address_.sun_path) {
            return Error{std::errc::filename_too_long, path + ": the socket's own name is too long"};
        }
    }
    std::memcpy(result.address_.sun_path, usable.c_str(), usable.size() + 1);
    return result;
}

LocalAddress::LocalAddress(LocalAddress&& other) noexcept
    : address_(other.address_), directory_(std::exchange(other.directory_, -1)) {}

LocalAddress::~LocalAddress() {
    if (directory_ >= 0) {
        close(directory_);
    }
}

FramedStream::FramedStream(int fd) : fd_(fd) {
    fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

FramedStream::~FramedStream() {
    close(fd_);
}

void FramedStream::queue(const Message& msg, const flux_msg_cred* stamp) {
    if (out_begin_ == out_.size()) {
        out_.clear();
        out_begin_ = 0;
    }
    const size_t size = encoded_size(msg);
    const size_t at = out_.size();
    out_.resize(at + frame_header + size);
    char* out = out_.data() + at;
    const uint32_t length = htonl(static_cast<uint32_t>(size));
    std::memcpy(out, &frame_magic, sizeof frame_magic);
    std::memcpy(out + sizeof frame_magic, &length, sizeof length);
    encode_to(msg, out + frame_header);
    if (stamp != nullptr) {
        const uint32_t cred[2] = {htonl(stamp->userid), htonl(stamp->rolemask)};
        std::memcpy(out_.data() + out_.size() - cred_from_end, cred, sizeof cred);
    }
}

int FramedStream::flush() {
    while (pending() > 0) {
        const ssize_t n = ::send(fd_, out_.data() + out_begin_, pending(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
        }
        out_begin_ += static_cast<size_t>(n);
    }
    out_.clear();
    out_begin_ = 0;
    return 0;
}

/// Room for at least read_step bytes behind in_end_; moves what is buffered only when the room is used up.
void FramedStream::make_room() {
    if (in_begin_ == in_end_) {
        in_begin_ = in_end_ = 0;
    }
    if (in_.size() - in_end_ >= read_step) {
        return;
    }
    if (buffered() > 0) {
        std::memmove(in_.data(), in_.data() + in_begin_, buffered());
    }
    in_end_ -= in_begin_;
    in_begin_ = 0;
    if (in_.size() - in_end_ < read_step) {
        in_.resize(in_.size() + std::max(in_.size(), 2 * read_step));
    }
}

int FramedStream::fill() {
    while (!ended_) {
        const ssize_t frame = buffered() > 0 ? frame_size(in_.data() + in_begin_, buffered()) : 0;
        if (frame < 0 || buffered() >= read_ahead_max + static_cast<size_t>(frame)) {
            return 0;  // whole messages, or rubbish, are buffered: let them be taken first
        }
        make_room();
        const size_t room = in_.size() - in_end_;
        const ssize_t n = read(fd_, in_.data() + in_end_, room);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return 0;
        }
        if (n <= 0) {
            ended_ = true;
            error_ = n < 0 ? errno : ECONNRESET;
            break;
        }
        in_end_ += static_cast<size_t>(n);
        if (static_cast<size_t>(n) < room) {
            return 0;  // the socket is empty; what comes later makes it readable again
        }
    }
    errno = error_;
    return -1;
}

bool FramedStream::has_message() const {
    if (buffered() < frame_header) {
        return false;
    }
    const ssize_t frame = frame_size(in_.data() + in_begin_, buffered());
    return frame < 0 || buffered() >= static_cast<size_t>(frame);
}

MessagePtr FramedStream::recv() {
    if (!has_message()) {
        (void)fill();
    }
    if (!has_message()) {
        errno = ended_ ? error_ : EAGAIN;
        return nullptr;
    }
    const char* bytes = in_.data() + in_begin_;
    const ssize_t frame = frame_size(bytes, buffered());
    if (frame < 0) {
        errno = EPROTO;  // not a frame: the stream cannot be understood from here on
        return nullptr;
    }
    auto msg = decode({bytes + frame_header, static_cast<size_t>(frame) - frame_header});
    in_begin_ += static_cast<size_t>(frame);
    if (!msg) {
        errno = EPROTO;
        return nullptr;
    }
    return std::move(msg).value();
}

}  // namespace weir::broker
