// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and patching of encoded messages. A frame is one size byte below 255, or 0xff and a big-endian 32-bit
// size, then its bytes; a message is [route ids, empty delimiter] [topic] [payload] protocol frame.
// Must not know who sends or receives.
#include "broker/core/packet.hpp"

#include <flux/core.h>

#include <utility>

#include "broker/api/message.hpp"

namespace weir::broker {
namespace {

void append_frame(std::string& out, std::string_view bytes) {
    const std::size_t n = bytes.size();
    if (n < 255) {
        out.push_back(static_cast<char>(n));
    } else {
        out.push_back(static_cast<char>(0xff));
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.push_back(static_cast<char>(n >> shift & 0xff));
        }
    }
    out.append(bytes);
}

void append_word(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        out.push_back(static_cast<char>(value >> shift & 0xff));
    }
}

struct Frame {
    std::size_t at = 0;  // offset of its bytes
    std::size_t size = 0;
};

/// Reads the frame that begins at `at` and moves `at` behind it.
std::optional<Frame> read_frame(std::string_view in, std::size_t& at) {
    if (at >= in.size()) {
        return std::nullopt;
    }
    std::size_t size = static_cast<unsigned char>(in[at++]);
    if (size == 255) {
        if (in.size() - at < 4) {
            return std::nullopt;
        }
        size = 0;
        for (int i = 0; i < 4; ++i) {
            size = size << 8 | static_cast<unsigned char>(in[at++]);
        }
    }
    if (in.size() - at < size) {
        return std::nullopt;
    }
    const Frame frame{at, size};
    at += size;
    return frame;
}

/// The receiver's codec ends its text there.
bool has_nul(std::string_view in, const Frame& frame) {
    return in.substr(frame.at, frame.size).find('\0') != std::string_view::npos;
}

/// A module whose codec refuses a message ends, so the router passes on no other types than the codec knows.
bool is_known_type(std::uint8_t type) {
    return type == FLUX_MSGTYPE_REQUEST || type == FLUX_MSGTYPE_RESPONSE || type == FLUX_MSGTYPE_EVENT ||
           type == FLUX_MSGTYPE_CONTROL;
}

}  // namespace

Cred stamped(Cred message, Cred connection) {
    if ((connection.rolemask & FLUX_ROLE_OWNER) == 0) {
        return connection;
    }
    return {message.userid == FLUX_USERID_UNKNOWN ? connection.userid : message.userid,
            message.rolemask == FLUX_ROLE_NONE ? connection.rolemask : message.rolemask};
}

std::optional<Packet> Packet::parse(std::string bytes) {
    Packet packet;
    packet.bytes_ = std::move(bytes);
    if (!packet.scan()) {
        return std::nullopt;
    }
    return packet;
}

Packet Packet::make(Header header, std::string_view topic, std::optional<std::string_view> payload) {
    Packet packet;
    std::string& out = packet.bytes_;
    out.reserve(topic.size() + (payload ? payload->size() : 0) + 80);
    header.flags &= static_cast<std::uint8_t>(~(FLUX_MSGFLAG_TOPIC | FLUX_MSGFLAG_PAYLOAD | FLUX_MSGFLAG_ROUTE));
    if (header.type == FLUX_MSGTYPE_REQUEST || header.type == FLUX_MSGTYPE_RESPONSE) {
        header.flags |= FLUX_MSGFLAG_ROUTE;
        append_frame(out, {});
    }
    if (!topic.empty()) {
        header.flags |= FLUX_MSGFLAG_TOPIC;
        append_frame(out, topic);
    }
    if (payload) {
        header.flags |= FLUX_MSGFLAG_PAYLOAD;
        append_frame(out, *payload);
    }
    out.push_back(static_cast<char>(proto_size));
    out.push_back(static_cast<char>(proto_magic));
    out.push_back(static_cast<char>(proto_version));
    out.push_back(static_cast<char>(header.type));
    out.push_back(static_cast<char>(header.flags));
    for (const std::uint32_t value : {header.cred.userid, header.cred.rolemask, header.aux1, header.aux2}) {
        append_word(out, value);
    }
    packet.scan();
    return packet;
}

bool Packet::scan() {
    if (bytes_.size() < proto_size + 1 || bytes_[bytes_.size() - proto_size - 1] != static_cast<char>(proto_size)) {
        return false;
    }
    if (proto(0) != proto_magic || proto(1) != proto_version || !is_known_type(type())) {
        return false;
    }
    std::size_t at = 0;
    route_count_ = topic_size_ = payload_size_ = 0;
    if (has(FLUX_MSGFLAG_ROUTE)) {
        for (;;) {
            delimiter_ = at;
            const auto frame = read_frame(bytes_, at);
            if (!frame) {
                return false;
            }
            if (frame->size == 0) {
                break;
            }
            if (++route_count_ > routes_max || has_nul(bytes_, *frame)) {
                return false;
            }
        }
    }
    if (has(FLUX_MSGFLAG_TOPIC)) {
        const auto frame = read_frame(bytes_, at);
        if (!frame || has_nul(bytes_, *frame)) {
            return false;
        }
        topic_ = frame->at;
        topic_size_ = frame->size;
    }
    if (has(FLUX_MSGFLAG_PAYLOAD)) {
        const auto frame = read_frame(bytes_, at);
        if (!frame) {
            return false;
        }
        payload_ = frame->at;
        payload_size_ = frame->size;
    }
    return at == bytes_.size() - proto_size - 1;
}

std::uint8_t Packet::proto(std::size_t at) const {
    return static_cast<std::uint8_t>(bytes_[bytes_.size() - proto_size + at]);
}

std::uint32_t Packet::word(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = value << 8 | proto(at + i);
    }
    return value;
}

void Packet::set_word(std::size_t at, std::uint32_t value) {
    const std::size_t base = bytes_.size() - proto_size + at;
    for (std::size_t i = 0; i < 4; ++i) {
        bytes_[base + i] = static_cast<char>(value >> (24 - 8 * i) & 0xff);
    }
}

void Packet::set_cred(Cred cred) {
    set_word(4, cred.userid);
    set_word(8, cred.rolemask);
}

std::optional<std::string_view> Packet::payload() const {
    if (!has(FLUX_MSGFLAG_PAYLOAD)) {
        return std::nullopt;
    }
    return std::string_view(bytes_).substr(payload_, payload_size_);
}

std::string_view Packet::text() const {
    std::string_view text = payload().value_or(std::string_view());
    if (!text.empty() && text.back() == '\0') {
        text.remove_suffix(1);
    }
    return text;
}

std::string_view Packet::route_last() const {
    if (route_count_ == 0) {
        return {};
    }
    std::size_t at = 0;
    const auto frame = read_frame(bytes_, at);
    return std::string_view(bytes_).substr(frame->at, frame->size);
}

std::string_view Packet::route_first() const {
    std::size_t at = 0;
    Frame last;
    for (std::size_t i = 0; i < route_count_; ++i) {
        last = *read_frame(bytes_, at);
    }
    return std::string_view(bytes_).substr(last.at, last.size);
}

void Packet::push_route(std::string_view id) {
    std::string head;
    append_frame(head, id);
    if (!has(FLUX_MSGFLAG_ROUTE)) {
        append_frame(head, {});
        bytes_[bytes_.size() - proto_size + 3] = static_cast<char>(flags() | FLUX_MSGFLAG_ROUTE);
        delimiter_ = head.size() - 1;
    } else {
        delimiter_ += head.size();
    }
    bytes_.insert(0, head);
    topic_ += head.size();
    payload_ += head.size();
    ++route_count_;
}

void Packet::pop_route() {
    if (route_count_ == 0) {
        return;
    }
    std::size_t at = 0;
    read_frame(bytes_, at);
    bytes_.erase(0, at);
    topic_ -= at;
    payload_ -= at;
    delimiter_ -= at;
    --route_count_;
}

Packet Packet::response(std::uint32_t errnum, std::optional<std::string_view> payload, Cred cred) const {
    const Header header{FLUX_MSGTYPE_RESPONSE, static_cast<std::uint8_t>(flags() & FLUX_MSGFLAG_STREAMING), cred,
                        errnum, aux2()};
    Packet answer = make(header, topic(), payload);
    if (route_count_ > 0) {  // the ids, without the delimiter that make() has written already
        answer.bytes_.insert(0, bytes_, 0, delimiter_);
        answer.scan();
    }
    return answer;
}

}  // namespace weir::broker
