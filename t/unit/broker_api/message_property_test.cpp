// SPDX-License-Identifier: LGPL-3.0-only
// Properties of the RFC 3 codec: what is encoded comes back, and only that.
#include <catch2/catch.hpp>

#include "broker/api/message.hpp"
#include "t/unit/draws.hpp"

using namespace weir::broker;

namespace {

std::string no_nul(std::string text) {
    std::replace(text.begin(), text.end(), '\0', 'x');
    return text;
}

/// Sizes around the one-byte limit of frames (255) as often as small ones.
std::string sized_bytes() {
    return draw::bytes(draw::element<size_t>(0, 1, 5, 36, 253, 254, 255, 256, 300, 5000));
}

MessagePtr any_message() {
    MessagePtr msg = make_message(
        draw::element<int>(FLUX_MSGTYPE_REQUEST, FLUX_MSGTYPE_RESPONSE, FLUX_MSGTYPE_EVENT, FLUX_MSGTYPE_CONTROL));
    msg->flags = static_cast<uint8_t>(draw::element<int>(0, FLUX_MSGFLAG_NORESPONSE, FLUX_MSGFLAG_STREAMING,
                                                         FLUX_MSGFLAG_PRIVATE | FLUX_MSGFLAG_USER1));
    msg->userid = draw::arbitrary<uint32_t>();
    msg->rolemask = draw::arbitrary<uint32_t>();
    msg->aux1 = draw::arbitrary<uint32_t>();
    msg->aux2 = draw::arbitrary<uint32_t>();
    if (draw::arbitrary<bool>()) {
        msg->enable_routes();
        for (int i = draw::in_range(0, 4); i > 0; --i) {
            msg->push_route("r" + no_nul(sized_bytes()));
        }
    }
    if (draw::arbitrary<bool>()) {
        msg->set_topic(no_nul(sized_bytes()));
    }
    if (draw::arbitrary<bool>()) {
        msg->set_payload(sized_bytes());
    }
    return msg;
}

bool same(const Message& a, const Message& b) {
    return a.type == b.type && a.flags == b.flags && a.userid == b.userid && a.rolemask == b.rolemask &&
           a.aux1 == b.aux1 && a.aux2 == b.aux2 && a.routes == b.routes && a.topic == b.topic && a.payload == b.payload;
}

}  // namespace

// Kills: routes in the wrong order, a size byte of 255 taken as short, a field at the wrong offset.
TEST_CASE("message codec: decode(encode(m)) is m") {
    draw::property("round trip", [] {
        const MessagePtr msg = any_message();
        const std::string bytes = encode(*msg);
        RC_ASSERT(bytes.size() == encoded_size(*msg));
        const auto back = decode(bytes);
        RC_ASSERT(back.has_value());
        RC_ASSERT(same(**back, *msg));
    });
}

// Kills: a frame whose announced size is not checked against what is there; a proto frame looked for anywhere but last.
TEST_CASE("message codec: no prefix of a message is a message") {
    draw::property("any prefix", [] {
        const std::string bytes = encode(*any_message());
        const auto size = draw::in_range<size_t>(0, bytes.size());
        // A payload may itself hold a proto frame; random bytes do so once in 2^16 cuts, so such cuts are left out.
        const bool could_hold_one =
            size >= 21 && bytes[size - 21] == 20 && static_cast<uint8_t>(bytes[size - 20]) == 0x8e;
        RC_PRE(!could_hold_one);
        RC_ASSERT(!decode(std::string_view(bytes).substr(0, size)).has_value());
    });
}

// Kills: reading beyond the end (run under AddressSanitizer), accepting bytes that encode back to something else.
TEST_CASE("message codec: a damaged message is refused or is another valid message") {
    draw::property("some bytes changed", [] {
        std::string bytes = encode(*any_message());
        for (int i = draw::in_range(1, 4); i > 0; --i) {
            bytes[draw::in_range<size_t>(0, bytes.size())] = draw::arbitrary<char>();
        }
        const auto exact = std::make_unique<char[]>(bytes.size());
        std::copy(bytes.begin(), bytes.end(), exact.get());
        const auto back = decode({exact.get(), bytes.size()});
        if (back) {
            const auto again = decode(encode(**back));
            RC_ASSERT(again.has_value());
            RC_ASSERT(same(**again, **back));
        }
    });
}
