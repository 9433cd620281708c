// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "broker/api/message.hpp"
#include "broker/core/packet.hpp"
#include "t/unit/draws.hpp"

using namespace weir::broker;

namespace {

/// Route ids and topics: no NUL, not empty, some long enough for the long form of a frame's size.
std::string name() {
    std::string letters = draw::bytes(draw::element<std::size_t>(1, 5, 36, 254, 255, 300));
    for (char& c : letters) {
        c = static_cast<char>('a' + static_cast<unsigned char>(c) % 26);
    }
    return letters;
}

MessagePtr message() {
    MessagePtr msg = make_message(draw::element<int>(FLUX_MSGTYPE_REQUEST, FLUX_MSGTYPE_RESPONSE, FLUX_MSGTYPE_EVENT));
    msg->userid = draw::arbitrary<std::uint32_t>();
    msg->rolemask = draw::arbitrary<std::uint32_t>();
    msg->aux1 = draw::arbitrary<std::uint32_t>();
    msg->aux2 = draw::arbitrary<std::uint32_t>();
    msg->set_topic(name());
    if (draw::arbitrary<bool>()) {
        msg->set_payload("x" + draw::arbitrary<std::string>());
    }
    if (draw::arbitrary<bool>()) {
        msg->enable_routes();
        for (int routes = draw::in_range(0, 4); routes > 0; routes--) {
            msg->push_route(name());
        }
    }
    return msg;
}

}  // namespace

// Kills: offsets that are not moved when a route is pushed or popped; route order reversed; the long form of sizes.
TEST_CASE("packet and codec agree on every message, before and after a hop") {
    draw::property("the router's view of the bytes is the codec's", [] {
        const MessagePtr msg = message();
        auto packet = Packet::parse(encode(*msg));
        RC_ASSERT(packet.has_value());
        RC_ASSERT(packet->topic() == msg->topic);
        RC_ASSERT(packet->payload().value_or("") == msg->payload);
        RC_ASSERT(packet->route_count() == msg->routes.size());
        RC_ASSERT(packet->cred().userid == msg->userid);
        RC_ASSERT(packet->cred().rolemask == msg->rolemask);
        RC_ASSERT(packet->aux1() == msg->aux1);
        RC_ASSERT(packet->aux2() == msg->aux2);

        const std::string hop = name();
        packet->push_route(hop);
        msg->push_route(hop);
        RC_ASSERT(packet->bytes() == encode(*msg));
        RC_ASSERT(packet->topic() == msg->topic);
        packet->pop_route();
        msg->pop_route();
        RC_ASSERT(packet->bytes() == encode(*msg));
    });
}

// Kills: reads beyond the end; sizes that are trusted.
TEST_CASE("packet: no byte string makes the parser read outside or accept what the codec refuses") {
    draw::property("damaged messages are refused by both or read alike by both", [] {
        std::string bytes = encode(*message());
        const auto at = draw::in_range<std::size_t>(0, bytes.size());
        bytes[at] = draw::arbitrary<char>();
        const auto packet = Packet::parse(bytes);
        const auto decoded = decode(bytes);
        if (decoded) {
            RC_ASSERT(packet.has_value());
            RC_ASSERT(packet->topic() == (*decoded)->topic);
        }
    });
}
