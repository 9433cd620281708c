// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the router's end of the ZeroMQ inproc PAIR to a module, one encoded message a ZeroMQ message. Unbounded in both
// directions, so that neither side can block the other. Must not know what messages say, or modules.
// Source: zmq_socket(3), zmq_getsockopt(3) ZMQ_FD, which is edge-triggered: hence the pump.
#pragma once
#include <uv.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/core/loop.hpp"
#include "broker/core/packet.hpp"

namespace weir::broker {

class ChannelPump;

class ModuleChannel {
  public:
    using OnMessage = std::function<void(std::string)>;
    /// Binds inproc://`name`. Aborts if ZeroMQ has no more sockets.
    ModuleChannel(ChannelPump& pump, const std::string& name, OnMessage on_message);
    ~ModuleChannel();
    ModuleChannel(const ModuleChannel&) = delete;
    ModuleChannel& operator=(const ModuleChannel&) = delete;

    /// The address for the other end, in the pump's ZeroMQ context.
    const std::string& address() const { return address_; }
    /// Queues a message; never blocks. The message's charge is released when the module has read it. \return false if
    /// the other end is not connected.
    bool send(const Packet& packet);
    /// Hands up to `budget` waiting messages to the callback. \return false if more may wait.
    bool drain(std::size_t budget);

  private:
    friend class ChannelPump;
    ChannelPump& pump_;
    std::string address_;
    void* socket_ = nullptr;
    OnMessage on_message_;
    Watch<uv_poll_t> poll_;
    bool is_dirty_ = true;  // messages may be waiting that the descriptor does not signal again
};

/// Drains the channels whose file descriptor may have lost its edge, before the loop goes to sleep.
class ChannelPump {
  public:
    explicit ChannelPump(Loop& loop);
    ~ChannelPump();
    ChannelPump(const ChannelPump&) = delete;
    ChannelPump& operator=(const ChannelPump&) = delete;
    void* context() const { return context_; }
    Loop& loop() const { return loop_; }
    /// Called after each drain, before the loop sleeps: the place to flush what the messages caused.
    void after_drain(std::function<void()> callback) { after_drain_ = std::move(callback); }

  private:
    friend class ModuleChannel;
    void before_sleep();

    static constexpr std::size_t messages_per_turn = 256;  // messages of one channel before the other channels' turn
    Loop& loop_;
    void* context_;
    std::vector<ModuleChannel*> channels_;
    std::function<void()> after_drain_;
    Watch<uv_prepare_t> prepare_;
    Watch<uv_idle_t> idle_;  // runs while messages are left, so that the loop does not sleep
    bool is_idle_on_ = false;
};

}  // namespace weir::broker
