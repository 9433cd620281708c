// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the interface between a Flux handle and its transport, and the two transports: the client side of local:// and
// the ZeroMQ PAIR channel between a module's thread and the router. Must not know handles, reactors or services. RFC 3;
// FLUX local connector (frames, authentication byte). errno semantics throughout.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "broker/api/message.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// A transport for whole messages. One thread.
struct Connector {
    virtual ~Connector() = default;
    Connector() = default;
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;
    /// A descriptor for poll. It may be edge triggered: call pollevents() before waiting for it.
    virtual int pollfd() = 0;
    /// FLUX_POLLIN | FLUX_POLLOUT | FLUX_POLLERR as they are now, or -1 with errno. POLLERR: the peer is gone.
    virtual int pollevents() = 0;
    /// Sends a whole message. Waits while the transport is full unless `nonblock` (then EAGAIN, nothing sent).
    /// Returns 0, or -1 with errno (EPIPE, ECONNRESET: the peer is gone).
    virtual int send(const Message& msg, bool nonblock) = 0;
    /// Receives a whole message; waits for one unless `nonblock` (then errno EAGAIN).
    /// Null with errno ECONNRESET when the peer is gone, EPROTO when it sent something malformed.
    virtual MessagePtr recv(bool nonblock) = 0;
    /// Waits until a message can be received, the peer is gone, or `timeout_ms` real milliseconds passed (-1: for
    /// ever). Returns 1, 0 on timeout, -1 with errno.
    virtual int wait(int timeout_ms) = 0;
    /// True if recv() would return a message, or the final error, although pollfd() may not be readable.
    virtual bool buffered() = 0;
};

/// Connects to a broker's local:// socket (path without the scheme; paths longer than a sockaddr are fine). Tries
/// $FLUX_LOCAL_CONNECTOR_RETRY_COUNT + 1 times (default 6, from 16 ms doubling), reads the authentication byte.
/// `answer_s`: real seconds that the broker has to accept and to send that byte; 0: no limit, for it may be starting.
/// Errors: ENOENT "broker socket PATH was not found", ETIMEDOUT, EPERM and whatever the broker refuses with.
Result<std::unique_ptr<Connector>> connect_local(const std::string& path,
                                                 std::optional<flux_msg_cred> stamp = std::nullopt,
                                                 double answer_s = 0);
/// A connector on a connected stream socket that is past authentication (tests, socketpair). Owns fd. `stamp` replaces
/// the credentials of everything sent; the broker honours it for the instance owner only (a test hook, as in Flux).
std::unique_ptr<Connector> connector_from_fd(int fd, std::optional<flux_msg_cred> stamp = std::nullopt);

/// One end of a channel: a ZeroMQ PAIR socket that never blocks on send (no high-water mark) and closes without linger.
/// One message is one encoded RFC 3 message. Bind and connect before either end sends (else EPIPE); a whole Channel may
/// move to another thread once, before it is used there.
class Channel {
  public:
    static Result<Channel> bind(void* zmq_context, const std::string& endpoint);
    static Result<Channel> connect(void* zmq_context, const std::string& endpoint);
    Channel(Channel&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
    Channel& operator=(Channel&& other) noexcept {
        std::swap(socket_, other.socket_);
        return *this;
    }
    ~Channel();
    /// ZMQ_FD: readable means "call events()". It is edge triggered: call events() again after any send or recv, and
    /// before waiting.
    int fd() const;
    /// FLUX_POLLIN | FLUX_POLLOUT as of now; -1 with errno when the context is being terminated (ETERM).
    int events() const;
    /// 0, or -1 with errno; EPIPE: the other end is not connected.
    int send(const Message& msg);
    /// The next message; null with EAGAIN when none is there. A malformed one is EPROTO.
    MessagePtr recv();
    void* socket() const { return socket_; }

  private:
    explicit Channel(void* socket) : socket_(socket) {}
    void* socket_ = nullptr;
};
/// The connector of a module's handle.
std::unique_ptr<Connector> connector_from_channel(Channel channel);

}  // namespace weir::broker
