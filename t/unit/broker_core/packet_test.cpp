// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/packet.hpp"

#include <flux/core.h>

#include <catch2/catch.hpp>

using namespace weir::broker;

namespace {

Packet request(std::string_view topic, std::optional<std::string_view> payload = {}) {
    return Packet::make({FLUX_MSGTYPE_REQUEST, FLUX_MSGFLAG_STREAMING, {7, 2}, FLUX_NODEID_ANY, 42}, topic, payload);
}

}  // namespace

TEST_CASE("packet: the bytes of a message are those of RFC 3") {
    const Packet packet = request("a.b", std::string_view("{}\0", 3));
    const std::string expected(
        "\x00"  // delimiter of an empty route stack
        "\x03"
        "a.b"  // topic
        "\x03"
        "{}\x00"            // payload
        "\x14\x8e\x01\x01"  // size, magic, version, request
        "\x4b"              // topic, payload, route, streaming
        "\x00\x00\x00\x07\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x2a",
        30);
    CHECK(packet.bytes() == expected);
}

TEST_CASE("packet: pushed routes come off last first") {
    Packet packet = request("x");
    packet.push_route("first");
    packet.push_route(std::string(300, 'u'));  // needs the long form of a frame's size
    CHECK(packet.route_count() == 2);
    CHECK(packet.route_first() == "first");
    CHECK(packet.route_last() == std::string(300, 'u'));
    packet.pop_route();
    CHECK(packet.route_last() == "first");
    packet.pop_route();
    packet.pop_route();  // nothing left: no effect
    CHECK(packet.bytes() == request("x").bytes());
    CHECK(packet.topic() == "x");
}

TEST_CASE("packet: a route is pushed onto a message without a stack") {
    Packet packet = Packet::make({FLUX_MSGTYPE_EVENT, 0, {}, 0, 0}, "e", std::string_view("p"));
    CHECK_FALSE(packet.has(FLUX_MSGFLAG_ROUTE));
    packet.push_route("id");
    CHECK(packet.route_last() == "id");
    CHECK(packet.topic() == "e");
    CHECK(*packet.payload() == "p");
    CHECK(Packet::parse(packet.bytes()));
}

TEST_CASE("packet: a response goes back the way of its request") {
    Packet asked = request("svc.method", std::string_view("{}\0", 3));
    asked.push_route("one");
    asked.push_route("two");
    const Packet answer = asked.response(38, std::string_view("no\0", 3), {0, 5});
    CHECK(answer.type() == FLUX_MSGTYPE_RESPONSE);
    CHECK(answer.has(FLUX_MSGFLAG_STREAMING));
    CHECK(answer.topic() == "svc.method");
    CHECK(answer.aux1() == 38);
    CHECK(answer.aux2() == 42);
    CHECK(answer.text() == "no");
    CHECK(answer.route_last() == "two");
    CHECK(answer.route_first() == "one");
}

TEST_CASE("packet: credentials of a guest are the connection's, the owner may speak for others") {
    const Cred owner{0, FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL};
    const Cred guest{500, FLUX_ROLE_USER | FLUX_ROLE_LOCAL};
    const Cred forged{0, FLUX_ROLE_OWNER};
    CHECK(stamped(forged, guest).userid == 500);
    CHECK(stamped(forged, guest).rolemask == guest.rolemask);
    CHECK(stamped({600, FLUX_ROLE_USER}, owner).userid == 600);
    CHECK(stamped({600, FLUX_ROLE_USER}, owner).rolemask == FLUX_ROLE_USER);
    CHECK(stamped({FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE}, owner).userid == 0);
    CHECK(stamped({600, FLUX_ROLE_NONE}, owner).rolemask == owner.rolemask);
}

TEST_CASE("packet: what is no whole message is refused") {
    const std::string good = request("a.b", std::string_view("{}\0", 3)).bytes();
    CHECK(Packet::parse(good));
    CHECK_FALSE(Packet::parse(""));
    CHECK_FALSE(Packet::parse(good.substr(1)));
    CHECK_FALSE(Packet::parse(good + "x"));
    for (std::size_t size = 0; size < good.size(); ++size) {
        CHECK_FALSE(Packet::parse(good.substr(0, size)));
    }
    std::string bad_magic = good;
    bad_magic[good.size() - 20] = 0;
    CHECK_FALSE(Packet::parse(bad_magic));
}

TEST_CASE("packet: what a module's codec would refuse is refused by the router") {
    CHECK_FALSE(Packet::parse(request(std::string_view("a\0b", 3)).bytes()));
    CHECK_FALSE(Packet::parse(Packet::make({16, 0, {}, 0, 0}, "a.b", {}).bytes()));
    Packet routed = request("a.b", "");
    routed.push_route(std::string("a\0b", 3));
    CHECK_FALSE(Packet::parse(routed.bytes()));
}

TEST_CASE("packet: a message has as many routes as a tree has hops") {
    Packet packet = request("a.b", "");
    while (packet.route_count() < Packet::routes_max) {
        packet.push_route("x");
    }
    CHECK(Packet::parse(packet.bytes()));
    packet.push_route("x");
    CHECK_FALSE(Packet::parse(packet.bytes()));
}
