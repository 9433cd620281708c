// SPDX-License-Identifier: LGPL-3.0-only
#include <rapidcheck/catch.h>

#include "broker/api/message.hpp"
#include "broker/core/packet.hpp"

using namespace weir::broker;

namespace {

/// Route ids and topics: no NUL, not empty, some long enough for the long form of a frame's size.
rc::Gen<std::string> name() {
    return rc::gen::mapcat(rc::gen::element(1, 5, 36, 254, 255, 300), [](int size) {
        return rc::gen::container<std::string>(static_cast<std::size_t>(size), rc::gen::inRange('a', 'z'));
    });
}

MessagePtr message() {
    MessagePtr msg =
        make_message(*rc::gen::element<int>(FLUX_MSGTYPE_REQUEST, FLUX_MSGTYPE_RESPONSE, FLUX_MSGTYPE_EVENT));
    msg->userid = *rc::gen::arbitrary<std::uint32_t>();
    msg->rolemask = *rc::gen::arbitrary<std::uint32_t>();
    msg->aux1 = *rc::gen::arbitrary<std::uint32_t>();
    msg->aux2 = *rc::gen::arbitrary<std::uint32_t>();
    msg->set_topic(*name());
    if (*rc::gen::arbitrary<bool>()) {
        msg->set_payload(*rc::gen::nonEmpty(rc::gen::arbitrary<std::string>()));
    }
    if (*rc::gen::arbitrary<bool>()) {
        msg->enable_routes();
        for (const std::string& id : *rc::gen::resize(3, rc::gen::container<std::vector<std::string>>(name()))) {
            msg->push_route(id);
        }
    }
    return msg;
}

}  // namespace

// Kills: offsets that are not moved when a route is pushed or popped; route order reversed; the long form of sizes.
TEST_CASE("packet and codec agree on every message, before and after a hop") {
    rc::prop("the router's view of the bytes is the codec's", [] {
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

        const std::string hop = *name();
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
    rc::prop("damaged messages are refused by both or read alike by both", [] {
        std::string bytes = encode(*message());
        const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
        bytes[at] = *rc::gen::arbitrary<char>();
        const auto packet = Packet::parse(bytes);
        const auto decoded = decode(bytes);
        if (decoded) {
            RC_ASSERT(packet.has_value());
            RC_ASSERT(packet->topic() == (*decoded)->topic);
        }
    });
}
