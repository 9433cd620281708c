// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one connected client of the local:// socket: its bytes in and out. Must not know routing.
// Source: FLUX local connector as observed: 4 bytes magic in host order, 4 bytes big-endian length, one encoded
// message.
#pragma once
#include <uv.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "broker/core/loop.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class LocalClient final : public Endpoint {
  public:
    /// A message larger than this is refused by closing the connection.
    static constexpr std::size_t MESSAGE_BYTES_MAX = 64u << 20;
    /// A client that lets this much pile up unread is disconnected: it must not cost the others memory.
    static constexpr std::size_t UNREAD_BYTES_MAX = 64u << 20;

    struct Hooks {
        std::function<void(LocalClient&, Packet)> message;
        std::function<void(LocalClient&)> wants_flush;  // once until flush() is called
        std::function<void(LocalClient&, const std::string& why)> closed;
    };
    /// Takes over the connected, non-blocking socket.
    LocalClient(Loop& loop, int fd, Cred connection, Hooks hooks);
    ~LocalClient() override;

    bool deliver(const Packet& packet) override;
    /// Writes what is queued as far as the socket takes it. May call `closed`.
    void flush();

  private:
    void on_ready(int events);
    void read_some();
    bool take_messages();
    void watch(bool wants_write);
    void close(const std::string& why);

    Hooks hooks_;
    int fd_;
    Watch<uv_poll_t> poll_;
    std::string in_;
    std::size_t in_used_ = 0;  // bytes of in_ that were taken already
    std::string out_;
    std::size_t out_sent_ = 0;  // bytes of out_ that were written already
    bool is_flush_asked_ = false;
    bool is_writing_ = false;
    bool is_over_limit_ = false;
    bool is_closed_ = false;
};

}  // namespace weir::broker
