// SPDX-License-Identifier: LGPL-3.0-only
// Owns: bytes on a local:// socket: addresses of any length, and framed messages on a nonblocking stream. Used by the
// client connector here and by the broker's listener. Must not know handles, routing or credentials.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "broker/api/message.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// A socket address for a path of any length: a long one goes through /proc/self/fd of its directory, which stays open
/// as long as this object. Errors: ENOENT and friends for the directory, ENAMETOOLONG for the last component.
class LocalAddress {
  public:
    static Result<LocalAddress> of(const std::string& path);
    LocalAddress(LocalAddress&& other) noexcept;
    LocalAddress& operator=(LocalAddress&&) = delete;
    ~LocalAddress();
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
    socklen_t size() const { return sizeof(address_); }

  private:
    LocalAddress() = default;
    sockaddr_un address_{};
    int directory_ = -1;
};

/// The first four bytes of a frame, in this machine's order.
inline constexpr uint32_t frame_magic = 0xffee0012;

/// Messages over one connected, nonblocking stream socket: magic, length, encoded message. Owns the descriptor.
class FramedStream {
  public:
    static constexpr size_t frame_bytes_max = size_t{1} << 30;  ///< a longer frame is refused (EPROTO)
    /// Takes the descriptor and makes it nonblocking.
    explicit FramedStream(int fd);
    FramedStream(const FramedStream&) = delete;
    FramedStream& operator=(const FramedStream&) = delete;
    ~FramedStream();
    int fd() const { return fd_; }
    /// Appends a message to the output without writing; with `stamp` its credentials replace the message's own.
    void queue(const Message& msg, const flux_msg_cred* stamp = nullptr);
    /// Writes as much as the socket accepts. 0: all is written, or the rest must wait for POLLOUT (see pending()); -1
    /// with errno.
    int flush();
    /// Bytes queued and not yet written.
    size_t pending() const { return out_.size() - out_begin_; }
    /// Reads what the socket has, up to about 1 MiB more than a whole message. 0, or -1 with errno once it is over.
    int fill();
    /// The next whole message, reading the socket when none is buffered. Null: EAGAIN (no whole message yet),
    /// ECONNRESET (end of stream), EPROTO (bad frame).
    MessagePtr recv();
    /// True when recv() would give a message without reading the socket.
    bool has_message() const;
    /// True once the peer closed or failed; messages may still be buffered.
    bool ended() const { return ended_; }

  private:
    size_t buffered() const { return in_end_ - in_begin_; }
    void make_room();
    int fd_;
    bool ended_ = false;
    int error_ = 0;
    std::vector<char> in_;  ///< received bytes are [in_begin_, in_end_); the rest is free
    size_t in_begin_ = 0;
    size_t in_end_ = 0;
    std::string out_;
    size_t out_begin_ = 0;
};

}  // namespace weir::broker
