// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a ZeroMQ PAIR socket that carries encoded messages between a module's thread and the router's.
// Must not know what is at either end. A socket may move to another thread once, before its first use there.
#include <poll.h>
#include <zmq.h>

#include <cerrno>

#include "broker/api/connector.hpp"
#include "broker/api/handover.hpp"

namespace weir::broker {
namespace {

Error zmq_error(const std::string& endpoint) {
    return Error{static_cast<std::errc>(errno), endpoint + ": " + zmq_strerror(errno)};
}

void* make_pair(void* context) {
    void* socket = zmq_socket(context, ZMQ_PAIR);
    if (socket != nullptr) {
        const int none = 0;
        // Neither side may ever wait for the other: the router serves every module from one thread.
        zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof none);
        zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
        zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    }
    return socket;
}

MessagePtr receive(void* socket, int flags) {
    zmq_msg_t raw;
    zmq_msg_init(&raw);
    int n = 0;
    do {
        n = zmq_msg_recv(&raw, socket, flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        const int saved = errno;
        zmq_msg_close(&raw);
        errno = saved == ETERM ? ECONNRESET : saved;
        return nullptr;
    }
    WEIR_ACQUIRE(zmq_msg_data(&raw));
    auto msg = decode({static_cast<const char*>(zmq_msg_data(&raw)), zmq_msg_size(&raw)});
    zmq_msg_close(&raw);
    if (!msg) {
        errno = EPROTO;
        return nullptr;
    }
    return std::move(msg).value();
}

class ChannelConnector : public Connector {
  public:
    explicit ChannelConnector(Channel channel) : channel_(std::move(channel)) {}
    int pollfd() override { return channel_.fd(); }
    int pollevents() override {
        const int events = channel_.events();
        return events < 0 ? FLUX_POLLERR : events;
    }
    bool buffered() override { return (pollevents() & (FLUX_POLLIN | FLUX_POLLERR)) != 0; }
    int send(const Message& msg, bool) override { return channel_.send(msg); }
    MessagePtr recv(bool nonblock) override { return receive(channel_.socket(), nonblock ? ZMQ_DONTWAIT : 0); }
    int wait(int timeout_ms) override {
        zmq_pollitem_t item{channel_.socket(), 0, ZMQ_POLLIN, 0};
        const int n = zmq_poll(&item, 1, timeout_ms);
        return n < 0 && errno == EINTR ? 0 : n;
    }

  private:
    Channel channel_;
};

}  // namespace

Result<Channel> Channel::bind(void* zmq_context, const std::string& endpoint) {
    Channel channel(make_pair(zmq_context));
    if (channel.socket_ == nullptr || zmq_bind(channel.socket_, endpoint.c_str()) < 0) {
        return zmq_error(endpoint);
    }
    return channel;
}

Result<Channel> Channel::connect(void* zmq_context, const std::string& endpoint) {
    Channel channel(make_pair(zmq_context));
    if (channel.socket_ == nullptr || zmq_connect(channel.socket_, endpoint.c_str()) < 0) {
        return zmq_error(endpoint);
    }
    return channel;
}

Channel::~Channel() {
    if (socket_ != nullptr) {
        zmq_close(socket_);
    }
}

int Channel::fd() const {
    int fd = -1;
    size_t size = sizeof fd;
    return zmq_getsockopt(socket_, ZMQ_FD, &fd, &size) < 0 ? -1 : fd;
}

int Channel::events() const {
    int zmq_events = 0;
    size_t size = sizeof zmq_events;
    if (zmq_getsockopt(socket_, ZMQ_EVENTS, &zmq_events, &size) < 0) {
        return -1;
    }
    return ((zmq_events & ZMQ_POLLIN) != 0 ? FLUX_POLLIN : 0) | ((zmq_events & ZMQ_POLLOUT) != 0 ? FLUX_POLLOUT : 0);
}

int Channel::send(const Message& msg) {
    zmq_msg_t raw;
    if (zmq_msg_init_size(&raw, encoded_size(msg)) < 0) {
        return -1;
    }
    encode_to(msg, static_cast<char*>(zmq_msg_data(&raw)));
    WEIR_RELEASE(zmq_msg_data(&raw));
    int n = 0;
    do {
        n = zmq_msg_send(&raw, socket_, ZMQ_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        const int saved = errno;
        zmq_msg_close(&raw);
        // Without a high-water mark "would block" can only mean that the other end is not connected.
        errno = saved == EAGAIN ? EPIPE : saved == ETERM ? ECONNRESET : saved;
        return -1;
    }
    return 0;
}

MessagePtr Channel::recv() {
    return receive(socket_, ZMQ_DONTWAIT);
}

std::unique_ptr<Connector> connector_from_channel(Channel channel) {
    return std::make_unique<ChannelConnector>(std::move(channel));
}

}  // namespace weir::broker
