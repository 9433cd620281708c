// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the encoding of one message: size-prefixed frames [routes.. delimiter] [topic] [payload] proto. RFC 3.
// Must not know streams: the length of the whole comes from outside. Fuzzed by t/fuzz/message_decode.
#include <cerrno>
#include <cstring>

#include "broker/api/message.hpp"

namespace weir::broker {
namespace {

constexpr size_t proto_size = 20;
constexpr uint8_t long_size = 0xff;  // this size byte says that four big-endian bytes follow

size_t frame_size(size_t size) {
    return size < long_size ? size + 1 : size + 5;
}

char* put_u32(char* out, uint32_t value) {
    *out++ = static_cast<char>(value >> 24);
    *out++ = static_cast<char>(value >> 16);
    *out++ = static_cast<char>(value >> 8);
    *out++ = static_cast<char>(value);
    return out;
}

char* put_frame(char* out, std::string_view bytes) {
    if (bytes.size() < long_size) {
        *out++ = static_cast<char>(bytes.size());
    } else {
        *out++ = static_cast<char>(long_size);
        out = put_u32(out, static_cast<uint32_t>(bytes.size()));
    }
    if (!bytes.empty()) {
        std::memcpy(out, bytes.data(), bytes.size());
    }
    return out + bytes.size();
}

uint32_t get_u32(const char* in) {
    const auto byte = [&](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(in[i])); };
    return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

Error malformed(const char* what) {
    return Error{std::errc::protocol_error, std::string("malformed message: ") + what};
}

/// Takes frames off the front of the bytes before the proto frame.
struct Frames {
    std::string_view rest;
    bool take(std::string_view& frame) {
        if (rest.empty()) {
            return false;
        }
        size_t size = static_cast<uint8_t>(rest.front());
        size_t header = 1;
        if (size == long_size) {
            if (rest.size() < 5) {
                return false;
            }
            size = get_u32(rest.data() + 1);
            header = 5;
        }
        if (rest.size() - header < size) {
            return false;
        }
        frame = rest.substr(header, size);
        rest.remove_prefix(header + size);
        return true;
    }
};

/// The fixed part, which is always last: its frame is one size byte and 20 bytes. nullptr, or what is wrong with it.
const char* read_proto(std::string_view bytes, Message& msg) {
    if (bytes.size() < proto_size + 1) {
        return "shorter than a proto frame";
    }
    const char* proto = bytes.data() + bytes.size() - proto_size;
    if (static_cast<uint8_t>(proto[-1]) != proto_size || static_cast<uint8_t>(proto[0]) != proto_magic) {
        return "no proto frame at the end";
    }
    if (static_cast<uint8_t>(proto[1]) != proto_version) {
        return "the protocol version is not 1";
    }
    msg.type = static_cast<uint8_t>(proto[2]);
    msg.flags = static_cast<uint8_t>(proto[3]);
    msg.userid = get_u32(proto + 4);
    msg.rolemask = get_u32(proto + 8);
    msg.aux1 = get_u32(proto + 12);
    msg.aux2 = get_u32(proto + 16);
    const bool known = msg.type == FLUX_MSGTYPE_REQUEST || msg.type == FLUX_MSGTYPE_RESPONSE ||
                       msg.type == FLUX_MSGTYPE_EVENT || msg.type == FLUX_MSGTYPE_CONTROL;
    return known ? nullptr : "unknown message type";
}

const char* read_routes(Frames& frames, Message& msg) {
    std::string_view frame;
    while (true) {
        if (!frames.take(frame)) {
            return "the routes do not end";
        }
        if (frame.empty()) {
            break;
        }
        if (frame.find('\0') != std::string_view::npos) {
            return "NUL in a route";
        }
        msg.routes.emplace_back(frame);
    }
    // The last pushed travels first; it is back() here.
    for (size_t i = 0, j = msg.routes.size(); i + 1 < j; ++i) {
        std::swap(msg.routes[i], msg.routes[--j]);
    }
    return nullptr;
}

}  // namespace

size_t encoded_size(const Message& msg) {
    size_t size = frame_size(proto_size);
    if (msg.has(FLUX_MSGFLAG_ROUTE)) {
        size += frame_size(0);
        for (const auto& route : msg.routes) {
            size += frame_size(route.size());
        }
    }
    if (msg.has(FLUX_MSGFLAG_TOPIC)) {
        size += frame_size(msg.topic.size());
    }
    if (msg.has(FLUX_MSGFLAG_PAYLOAD)) {
        size += frame_size(msg.payload.size());
    }
    return size;
}

void encode_to(const Message& msg, char* out) {
    if (msg.has(FLUX_MSGFLAG_ROUTE)) {
        for (auto route = msg.routes.rbegin(); route != msg.routes.rend(); ++route) {
            out = put_frame(out, *route);
        }
        out = put_frame(out, {});
    }
    if (msg.has(FLUX_MSGFLAG_TOPIC)) {
        out = put_frame(out, msg.topic);
    }
    if (msg.has(FLUX_MSGFLAG_PAYLOAD)) {
        out = put_frame(out, msg.payload);
    }
    *out++ = static_cast<char>(proto_size);
    *out++ = static_cast<char>(proto_magic);
    *out++ = static_cast<char>(proto_version);
    *out++ = static_cast<char>(msg.type);
    *out++ = static_cast<char>(msg.flags);
    out = put_u32(out, msg.userid);
    out = put_u32(out, msg.rolemask);
    out = put_u32(out, msg.aux1);
    put_u32(out, msg.aux2);
}

std::string encode(const Message& msg) {
    std::string bytes(encoded_size(msg), '\0');
    encode_to(msg, bytes.data());
    return bytes;
}

Result<MessagePtr> decode(std::string_view bytes) {
    auto msg = MessagePtr::adopt(new Message);
    if (const char* wrong = read_proto(bytes, *msg)) {
        return malformed(wrong);
    }
    Frames frames{bytes.substr(0, bytes.size() - proto_size - 1)};
    if (msg->has(FLUX_MSGFLAG_ROUTE)) {
        if (const char* wrong = read_routes(frames, *msg)) {
            return malformed(wrong);
        }
    }
    std::string_view frame;
    if (msg->has(FLUX_MSGFLAG_TOPIC)) {
        if (!frames.take(frame)) {
            return malformed("no topic frame");
        }
        if (frame.find('\0') != std::string_view::npos) {
            return malformed("NUL in the topic");
        }
        msg->topic = frame;
    }
    if (msg->has(FLUX_MSGFLAG_PAYLOAD)) {
        if (!frames.take(frame)) {
            return malformed("no payload frame");
        }
        msg->payload = frame;
    }
    if (!frames.rest.empty()) {
        return malformed("more frames than the flags announce");
    }
    return msg;
}

}  // namespace weir::broker
