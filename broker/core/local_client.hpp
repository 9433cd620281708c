// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one connected client of the local:// socket: its bytes in and out. Must not know routing.
// Source: FLUX local connector as observed: 4 bytes magic in host order, 4 bytes big-endian length, one encoded
// message.
#pragma once
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/core/loop.hpp"
#include "broker/core/quota.hpp"
#include "broker/core/router.hpp"

namespace weir::broker {

class LocalClient final : public Endpoint {
  public:
    /// A message larger than this is refused by closing the connection.
    static constexpr std::size_t message_bytes_max = 64u << 20;
    /// The same for a guest's, which a service may parse: JSON takes a hundred times its bytes. The largest that an
    /// honest one sends, an answer of a child instance, has 2 MiB.
    static constexpr std::size_t guest_message_bytes_max = 4u << 20;
    /// A client with this much unread output is disconnected, so that it does not cost the others memory.
    static constexpr std::size_t unread_bytes_max = 64u << 20;
    /// With less unread output than this it has read most of it.
    static constexpr std::size_t unread_bytes_low = 256u << 10;
    /// No service has a longer name.
    static constexpr std::size_t topic_bytes_max = 256;
    /// Bytes that a request is charged in addition to its own, for memory here and in the service that answers it.
    static constexpr std::size_t request_overhead = 2048;

    struct Hooks {
        std::function<void(LocalClient&, Packet)> message;
        std::function<void(LocalClient&)> wants_flush;  // once until flush() is called
        std::function<void(LocalClient&, const std::string& why)> closed;
    };
    /// Takes over the connected, non-blocking socket. Incomplete input, unread output and open requests are charged to
    /// `quota`. Over its limit a request is refused (ENOBUFS); anything else disconnects.
    LocalClient(Loop& loop, int fd, Cred connection, std::shared_ptr<Quota> quota, Hooks hooks);
    ~LocalClient() override;

    bool deliver(const Packet& packet) override;
    void when_read(std::function<void()> then) override;
    /// Writes what is queued as far as the socket takes it. May call `closed`.
    void flush();
    Quota& quota() { return *quota_; }

  private:
    void on_ready(int events);
    void read_some();
    bool take_messages();
    bool take_message(std::string bytes);
    /// Charges a message to the user. If it cannot be admitted, sends an answer with the reason.
    bool admit(Packet& packet);
    void ask_for_flush();
    void call_readers();
    void queue(const std::string& bytes);
    void refuse(const Packet& request, int errnum, std::string_view why);
    void on_response(const Packet& response);
    void release_memory(std::string& buffer);
    void watch(bool wants_write);
    void close(const std::string& why);

    struct OpenRequest {
        std::shared_ptr<const Charge> charge;
        bool is_streaming = false;
    };
    std::shared_ptr<Quota> quota_;
    std::unordered_map<std::uint32_t, OpenRequest> open_;  // of a limited user, by matchtag
    Hooks hooks_;
    int fd_;
    Watch<uv_poll_t> poll_;
    std::string in_;
    std::size_t in_used_ = 0;  // bytes of in_ that were taken already
    std::string out_;
    std::size_t out_sent_ = 0;  // bytes of out_ that were written already
    std::vector<std::function<void()>> when_read_;
    bool is_flush_asked_ = false;
    bool is_writing_ = false;
    bool is_over_limit_ = false;
    bool is_closed_ = false;
};

}  // namespace weir::broker
