// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the message object behind flux_msg_t and its wire encoding. Must not know sockets, handles or services. RFC 3.
// A message and its references belong to one thread at a time; threads exchange only encodings.
#pragma once
#include <flux/core.h>
#include <jansson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/result.hpp"

/// One RFC 3 message, reference counted (starts at 1). `flags` says whether topic, payload and routes are present; an
/// absent part is empty. Writers use the setters below, which keep flags and parts together.
struct flux_msg {
    int type = FLUX_MSGTYPE_REQUEST;  ///< exactly one FLUX_MSGTYPE_*
    uint8_t flags = 0;                ///< FLUX_MSGFLAG_*
    uint32_t userid = FLUX_USERID_UNKNOWN;
    uint32_t rolemask = FLUX_ROLE_NONE;
    uint32_t aux1 = 0;                ///< request: nodeid; response: errnum; event: sequence; control: type
    uint32_t aux2 = 0;                ///< request, response: matchtag; event: 0; control: status
    std::vector<std::string> routes;  ///< ids, the last pushed is back(); the first sender is front()
    std::string topic;                ///< without NUL
    std::string payload;              ///< raw bytes; JSON and text include their trailing NUL

    mutable int refcount = 1;
    mutable json_t* json = nullptr;  ///< the payload parsed, made at most once (unpack_json); owned

    flux_msg() = default;
    flux_msg(const flux_msg&) = delete;
    flux_msg& operator=(const flux_msg&) = delete;
    ~flux_msg() { json_decref(json); }

    bool has(int flag) const { return (flags & flag) != 0; }
    /// Text of the topic, or "" when there is none.
    const char* topic_text() const { return topic.c_str(); }
    /// A JSON or text payload; nullptr when there is none or it does not end with NUL.
    const char* payload_text() const {
        return has(FLUX_MSGFLAG_PAYLOAD) && !payload.empty() && payload.back() == '\0' ? payload.c_str() : nullptr;
    }
    void set_topic(std::string_view text) {
        topic = text;
        flags |= FLUX_MSGFLAG_TOPIC;
    }
    /// Replaces the payload by text and its NUL and drops the parsed copy; nullptr removes the payload.
    void set_payload_text(const char* text);
    /// Replaces the payload by raw bytes and drops the parsed copy; empty removes the payload (as Flux).
    void set_payload(std::string bytes);
    /// Replaces the payload by the compact text of an object. Borrows `object`; keeps it as the parsed copy.
    /// Returns false when it is not an object or cannot be written as text.
    bool set_payload_json(json_t* object);
    void enable_routes() { flags |= FLUX_MSGFLAG_ROUTE; }
    void push_route(std::string id) {
        routes.push_back(std::move(id));
        flags |= FLUX_MSGFLAG_ROUTE;
    }
    void pop_route() {
        if (!routes.empty()) {
            routes.pop_back();
        }
    }
    uint32_t matchtag() const { return aux2; }
    int errnum() const { return static_cast<int>(aux1); }
};

namespace weir::broker {

using Message = ::flux_msg;

/// One reference to a message. Copying shares the message; a shared message must not be changed.
class MessagePtr {
  public:
    MessagePtr() = default;
    MessagePtr(std::nullptr_t) {}
    /// Takes the caller's reference.
    static MessagePtr adopt(Message* msg) { return MessagePtr(msg); }
    /// Adds a reference; the caller keeps its own.
    static MessagePtr share(const Message* msg) {
        (void)flux_msg_incref(msg);
        return MessagePtr(const_cast<Message*>(msg));
    }
    MessagePtr(const MessagePtr& other) : msg_(other.msg_) {
        if (msg_ != nullptr) {
            ++msg_->refcount;
        }
    }
    MessagePtr(MessagePtr&& other) noexcept : msg_(std::exchange(other.msg_, nullptr)) {}
    MessagePtr& operator=(MessagePtr other) noexcept {
        std::swap(msg_, other.msg_);
        return *this;
    }
    ~MessagePtr() { flux_msg_decref(msg_); }
    Message* get() const { return msg_; }
    Message* operator->() const { return msg_; }
    Message& operator*() const { return *msg_; }
    explicit operator bool() const { return msg_ != nullptr; }
    /// Passes the reference to the caller.
    Message* release() { return std::exchange(msg_, nullptr); }

  private:
    explicit MessagePtr(Message* msg) : msg_(msg) {}
    Message* msg_ = nullptr;
};

/// An empty message of one FLUX_MSGTYPE_*: unknown user, no roles; a request goes to any node and has no matchtag.
MessagePtr make_message(int type);
/// A request with an empty route stack. `payload` is JSON text or nullptr.
MessagePtr make_request(std::string_view topic, const char* payload);
/// An event; `payload` is JSON text or nullptr.
MessagePtr make_event(std::string_view topic, const char* payload);
/// The response to a request: same topic, routes, matchtag and STREAMING flag, unknown user, no payload yet.
MessagePtr make_response(const Message& request, int errnum);
/// An unshared copy, without references to the original; with `with_payload` false the payload is left out.
MessagePtr copy(const Message& msg, bool with_payload = true);

/// The first two bytes of the protocol frame.
inline constexpr uint8_t proto_magic = 0x8e, proto_version = 1;
/// Bytes that encode() needs. Linear in the number of routes.
size_t encoded_size(const Message& msg);
/// Writes exactly encoded_size(msg) bytes at `out`.
void encode_to(const Message& msg, char* out);
std::string encode(const Message& msg);
/// Reads one message that fills `bytes` exactly. Never reads beyond; rejects (EPROTO) wrong magic or version, sizes
/// beyond the end, missing or surplus frames, an unknown type, and NUL inside topic or route. RFC 3.
Result<MessagePtr> decode(std::string_view bytes);

/// The payload as a JSON object, parsed on first use. Borrowed from the message. Returns nullptr with errno EPROTO, and
/// the reason in `error` if given.
json_t* payload_json(const Message& msg, std::string* error = nullptr);
/// jansson's vunpack on the payload, errno EPROTO when it does not fit (flux_msg_vunpack).
int vunpack(const Message& msg, const char* format, va_list args);
/// Replaces the payload by a packed object, errno EINVAL when the format is wrong or gives no object (flux_msg_vpack).
int vpack(Message& msg, const char* format, va_list args);

/// True when a message fits: type in typemask, matchtag equal unless NONE, topic equal or globbed (fnmatch).
bool matches(const Message& msg, const flux_match& match);
/// True when a topic equals the pattern or is globbed by it. Without a topic, nullptr, only "", "*" and nullptr fit.
bool fits_topic(const char* glob, const char* topic);
/// True for a topic pattern that can fit more than one topic: nullptr, "", or with one of *?[.
bool is_glob(const char* topic);
/// "request", "response", "event", "control" for a FLUX_MSGTYPE_*.
const char* type_name(int type);

}  // namespace weir::broker
