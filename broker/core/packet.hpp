// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one encoded RFC 3 message in the router: bytes, with the header fields that routing reads and patches in place.
// Decoding would copy every message twice. Payloads are not changed. Must not know sockets, endpoints or JSON. Source:
// RFC 3.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::broker {

/// The sender of a message: user id and FLUX_ROLE_* bits (RFC 12).
struct Cred {
    std::uint32_t userid = 0xFFFFFFFFu;
    std::uint32_t rolemask = 0;
};

class Charge;

/// The credentials of a message that came over a connection. A guest's are always the connection's; the owner may speak
/// for others, so that only what it left unset is filled in (RFC 12, flux-core librouter).
Cred stamped(Cred message, Cred connection);

/// The protocol frame of RFC 3. `aux1`/`aux2` by type: request nodeid/matchtag, response errnum/matchtag, event
/// sequence/0, control type/status.
struct Header {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    Cred cred;
    std::uint32_t aux1 = 0;
    std::uint32_t aux2 = 0;
};

class Packet {
  public:
    /// More than the hops of any tree of instances. Each route costs its receiver more memory than its byte on the way.
    static constexpr std::size_t routes_max = 255;
    /// Checks the frames of an encoded message and notes where its parts are.
    /// \return nothing if the bytes are not one whole RFC 3 message that decode() takes, or have too many routes.
    /// O(routes).
    static std::optional<Packet> parse(std::string bytes);

    /// Encodes a new message. The TOPIC, PAYLOAD and ROUTE flags follow from the arguments; requests and responses get
    /// an empty route stack. `payload` includes the trailing NUL if it is text; nullopt means no payload.
    static Packet make(Header header, std::string_view topic, std::optional<std::string_view> payload);

    std::uint8_t type() const { return proto(2); }
    std::uint8_t flags() const { return proto(3); }
    bool has(std::uint8_t flag) const { return (flags() & flag) != 0; }
    Cred cred() const { return {word(4), word(8)}; }
    std::uint32_t aux1() const { return word(12); }
    std::uint32_t aux2() const { return word(16); }
    void set_cred(Cred cred);
    void set_aux1(std::uint32_t value) { set_word(12, value); }

    std::string_view topic() const { return std::string_view(bytes_).substr(topic_, topic_size_); }
    /// The payload as sent (a trailing NUL included), or nothing.
    std::optional<std::string_view> payload() const;
    /// The payload as text without its trailing NUL; empty if there is none.
    std::string_view text() const;

    std::size_t route_count() const { return route_count_; }
    /// The id pushed last, that is the next hop of a response. Empty if the stack is empty.
    std::string_view route_last() const;
    /// The id pushed first, that is the message's origin. Empty if the stack is empty.
    std::string_view route_first() const;
    /// The whole route stack as it is encoded; empty if the stack is empty.
    std::string_view routes() const { return std::string_view(bytes_).substr(0, route_count_ > 0 ? delimiter_ : 0); }
    /// Pushes an id, adding the route stack if there is none. O(size): the bytes move up.
    void push_route(std::string_view id);
    /// Pops the last id. No effect on an empty stack.
    void pop_route();

    /// A response to this request with the same topic, matchtag, STREAMING flag and route stack.
    Packet response(std::uint32_t errnum, std::optional<std::string_view> payload, Cred cred) const;

    const std::string& bytes() const { return bytes_; }

    /// The charge for the memory of this message, until its last copy is gone; empty: no charge.
    const std::shared_ptr<const Charge>& charge() const { return charge_; }
    void set_charge(std::shared_ptr<const Charge> charge) { charge_ = std::move(charge); }
    std::string take() && { return std::move(bytes_); }

  private:
    static constexpr std::size_t proto_size = 20;
    std::uint8_t proto(std::size_t at) const;
    std::uint32_t word(std::size_t at) const;
    void set_word(std::size_t at, std::uint32_t value);
    bool scan();

    std::string bytes_;
    std::shared_ptr<const Charge> charge_;
    std::size_t topic_ = 0;  // offset of the topic's bytes
    std::size_t topic_size_ = 0;
    std::size_t payload_ = 0;  // offset of the payload's bytes
    std::size_t payload_size_ = 0;
    std::size_t route_count_ = 0;
    std::size_t delimiter_ = 0;  // offset of the route delimiter's size byte, if ROUTE is set
};

}  // namespace weir::broker
