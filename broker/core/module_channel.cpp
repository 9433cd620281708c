// SPDX-License-Identifier: LGPL-3.0-only
// Owns: ZeroMQ under libuv. After every send or receive on a socket its file descriptor may have lost its edge, so a
// socket that was touched is drained to EAGAIN before the loop sleeps. Must not know messages or modules.
#include "broker/core/module_channel.hpp"

#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "broker/api/handover.hpp"
#include "libfairshare/base/check.hpp"

namespace weir::broker {

ModuleChannel::ModuleChannel(ChannelPump& pump, const std::string& name, OnMessage on_message)
    : pump_(pump),
      address_("inproc://" + name),
      socket_(zmq_socket(pump.context(), ZMQ_PAIR)),
      on_message_(std::move(on_message)) {
    WEIR_CHECK(socket_ != nullptr);
    const int unlimited = 0;
    zmq_setsockopt(socket_, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
    zmq_setsockopt(socket_, ZMQ_RCVHWM, &unlimited, sizeof unlimited);
    WEIR_CHECK(zmq_bind(socket_, address_.c_str()) == 0);
    int fd = -1;
    std::size_t size = sizeof fd;
    WEIR_CHECK(zmq_getsockopt(socket_, ZMQ_FD, &fd, &size) == 0);
    const auto init = [&pump, fd](uv_poll_t* poll) { return uv_poll_init(pump.loop().get(), poll, fd); };
    WEIR_CHECK(poll_.create(init) == 0);
    poll_.on([this](int) { is_dirty_ = true; });
    uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* poll, int, int) { Watch<uv_poll_t>::fire(poll); });
    pump_.channels_.push_back(this);
}

ModuleChannel::~ModuleChannel() {
    std::erase(pump_.channels_, this);
    poll_.reset();
    const int none = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    zmq_close(socket_);
}

bool ModuleChannel::send(const Packet& packet) {
    auto* copy = new Packet(packet);  // ends in the module's thread, when it has read the message
    char* bytes = const_cast<char*>(copy->bytes().data());
    zmq_msg_t message;
    WEIR_CHECK(zmq_msg_init_data(
                   &message, bytes, copy->bytes().size(),
                   [](void* data, void* hint) {
                       WEIR_ACQUIRE(data);
                       delete static_cast<Packet*>(hint);
                   },
                   copy) == 0);
    WEIR_RELEASE(bytes);
    int rc = 0;
    do {
        rc = zmq_msg_send(&message, socket_, ZMQ_DONTWAIT);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0) {  // without a high-water mark: the other end is not connected
        zmq_msg_close(&message);
    }
    is_dirty_ = true;
    return rc >= 0;
}

bool ModuleChannel::drain(std::size_t budget) {
    is_dirty_ = false;
    for (std::size_t i = 0; i < budget; ++i) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket_, ZMQ_DONTWAIT) < 0) {
            const bool is_interrupted = errno == EINTR;
            zmq_msg_close(&message);
            is_dirty_ = is_dirty_ || is_interrupted;
            return !is_dirty_;
        }
        WEIR_ACQUIRE(zmq_msg_data(&message));
        std::string bytes(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        zmq_msg_close(&message);
        on_message_(std::move(bytes));
    }
    is_dirty_ = true;
    return false;
}

ChannelPump::ChannelPump(Loop& loop) : loop_(loop), context_(zmq_ctx_new()) {
    WEIR_CHECK(context_ != nullptr);
    zmq_ctx_set(context_, ZMQ_IO_THREADS, 0);  // inproc alone needs none
    zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, 4096);
    WEIR_CHECK(prepare_.create([&loop](uv_prepare_t* h) { return uv_prepare_init(loop.get(), h); }) == 0);
    WEIR_CHECK(idle_.create([&loop](uv_idle_t* h) { return uv_idle_init(loop.get(), h); }) == 0);
    prepare_.on([this](int) { before_sleep(); });
    uv_prepare_start(prepare_.get(), [](uv_prepare_t* h) { Watch<uv_prepare_t>::fire(h); });
    uv_unref(reinterpret_cast<uv_handle_t*>(prepare_.get()));
}

ChannelPump::~ChannelPump() {
    prepare_.reset();
    idle_.reset();
    zmq_ctx_term(context_);
}

void ChannelPump::before_sleep() {
    constexpr int rounds_per_turn = 4;
    bool is_left = true;
    for (int round = 0; is_left && round < rounds_per_turn; ++round) {
        is_left = false;
        for (std::size_t i = 0; i < channels_.size(); ++i) {  // by index: a message may load or remove a module
            if (channels_[i]->is_dirty_ && !channels_[i]->drain(messages_per_turn)) {
                is_left = true;
            }
        }
        is_left =
            is_left || std::any_of(channels_.begin(), channels_.end(), [](ModuleChannel* c) { return c->is_dirty_; });
    }
    if (after_drain_) {
        after_drain_();
    }
    is_left = is_left || std::any_of(channels_.begin(), channels_.end(), [](ModuleChannel* c) { return c->is_dirty_; });
    if (is_left != is_idle_on_) {
        is_idle_on_ = is_left;
        if (is_left) {
            uv_idle_start(idle_.get(), [](uv_idle_t*) {});
        } else {
            uv_idle_stop(idle_.get());
        }
    }
}

}  // namespace weir::broker
