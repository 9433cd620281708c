// SPDX-License-Identifier: LGPL-3.0-only
// The encoding against bytes written by hand from RFC 3, and what the C functions make of a message.
#include "broker/api/message.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

using namespace weir::broker;
using namespace std::string_literals;

namespace {
/// A ping request as flux-core 0.88 writes it: one route, delimiter, topic, payload with NUL, proto.
const std::string ping_bytes =
    "\x04"
    "abcd"
    "\x00"
    "\x0b"
    "broker.ping"
    "\x0a"
    "{\"seq\":1}\0"
    "\x14"
    "\x8e\x01\x01\x0b\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x03"s;
}  // namespace

TEST_CASE("message codec: a request byte by byte") {
    const auto msg = decode(ping_bytes);
    REQUIRE(msg.has_value());
    CHECK((*msg)->type == FLUX_MSGTYPE_REQUEST);
    CHECK((*msg)->topic == "broker.ping");
    CHECK((*msg)->routes == std::vector<std::string>{"abcd"});
    CHECK((*msg)->payload_text() == "{\"seq\":1}"s);
    CHECK((*msg)->aux1 == FLUX_NODEID_ANY);
    CHECK((*msg)->matchtag() == 3);
    CHECK((*msg)->userid == FLUX_USERID_UNKNOWN);
    CHECK(encode(**msg) == ping_bytes);
}

TEST_CASE("message codec: the last route pushed travels first") {
    const auto msg = make_request("a.b", nullptr);
    msg->push_route("first");
    msg->push_route("last");
    CHECK(encode(*msg).substr(0, 12) == "\x04last\x05"s + "first\x00"s);
    CHECK(flux_msg_route_first(msg.get()) == "first"s);
    CHECK(flux_msg_route_last(msg.get()) == "last"s);
}

TEST_CASE("message codec: malformed messages are refused with a reason") {
    const auto refused = [](std::string bytes) {
        const auto msg = decode(bytes);
        return msg ? std::string() : msg.error().message;
    };
    const auto with = [](size_t from_end, char value) {
        std::string bytes = ping_bytes;
        bytes[bytes.size() - from_end] = value;
        return bytes;
    };
    CHECK(refused("") == "malformed message: shorter than a proto frame");
    CHECK(refused(with(20, '\x8f')) == "malformed message: no proto frame at the end");
    CHECK(refused(with(19, '\x02')) == "malformed message: the protocol version is not 1");
    CHECK(refused(with(18, '\x03')) == "malformed message: unknown message type");
    CHECK(refused(with(17, '\x0a')) == "malformed message: more frames than the flags announce");
    CHECK(refused(with(17, '\x09')) == "malformed message: more frames than the flags announce");
    CHECK(refused(ping_bytes.substr(6)) == "malformed message: NUL in a route");
    CHECK(refused(ping_bytes.substr(5, 13) + ping_bytes.substr(29)) == "malformed message: no payload frame");
    std::string nul = ping_bytes;
    nul[8] = '\0';
    CHECK(refused(nul) == "malformed message: NUL in the topic");
    std::string huge = "\xff\xff\xff\xff\xff"s + ping_bytes;
    CHECK(refused(huge) == "malformed message: the routes do not end");
}

TEST_CASE("message: the payload is parsed once and again after a change") {
    const auto msg = make_request("a.b", "{\"n\":1}");
    json_t* first = payload_json(*msg);
    REQUIRE(first != nullptr);
    CHECK(payload_json(*msg) == first);
    int n = 0;
    CHECK(flux_request_unpack(msg.get(), nullptr, "{s:i}", "n", &n) == 0);
    CHECK(n == 1);
    msg->set_payload_text("{\"n\":2}");
    CHECK(flux_request_unpack(msg.get(), nullptr, "{s:i}", "n", &n) == 0);
    CHECK(n == 2);
}

TEST_CASE("message: what does not fit is EPROTO and says why") {
    const auto msg = make_request("a.b", "[1]");
    std::string why;
    CHECK(payload_json(*msg, &why) == nullptr);
    CHECK(why == "payload is not a JSON object");
    CHECK(errno == EPROTO);
    int n = 0;
    msg->set_payload_text("{\"n\":\"x\"}");
    CHECK(flux_request_unpack(msg.get(), nullptr, "{s:i}", "n", &n) == -1);
    CHECK(errno == EPROTO);
    msg->set_payload("{}");  // no NUL: not a text
    const char* text = nullptr;
    CHECK(flux_request_decode(msg.get(), nullptr, &text) == -1);
    CHECK(errno == EPROTO);
    CHECK(flux_response_decode(msg.get(), nullptr, &text) == -1);
    CHECK(errno == EPROTO);
}

TEST_CASE("message: a response goes back the way its request came") {
    const auto request = make_request("a.b", "{}");
    request->push_route("client");
    request->aux2 = 9;
    request->userid = 5;
    request->flags |= FLUX_MSGFLAG_STREAMING;
    const auto response = make_response(*request, ENOENT);
    CHECK(response->type == FLUX_MSGTYPE_RESPONSE);
    CHECK(response->routes == request->routes);
    CHECK(response->topic == "a.b");
    CHECK(response->matchtag() == 9);
    CHECK(response->errnum() == ENOENT);
    CHECK(response->userid == FLUX_USERID_UNKNOWN);
    CHECK(flux_msg_is_streaming(response.get()));
    CHECK(response->payload_text() == nullptr);
}

TEST_CASE("message: who may act for a user") {
    const auto msg = make_request("a.b", nullptr);
    msg->userid = 5;
    CHECK(flux_msg_authorize(msg.get(), 5) == -1);
    CHECK(errno == EPERM);
    msg->rolemask = FLUX_ROLE_USER;
    CHECK(flux_msg_authorize(msg.get(), 5) == 0);
    CHECK(flux_msg_authorize(msg.get(), 6) == -1);
    msg->rolemask = FLUX_ROLE_OWNER;
    CHECK(flux_msg_authorize(msg.get(), 6) == 0);
}

TEST_CASE("message: matching by type, tag and glob") {
    const auto msg = make_request("job.state.run", nullptr);
    msg->aux2 = 4;
    CHECK(matches(*msg, FLUX_MATCH_ANY));
    CHECK(matches(*msg, {FLUX_MSGTYPE_REQUEST, 4, "job.state.*"}));
    CHECK_FALSE(matches(*msg, {FLUX_MSGTYPE_EVENT, FLUX_MATCHTAG_NONE, nullptr}));
    CHECK_FALSE(matches(*msg, {FLUX_MSGTYPE_REQUEST, 5, nullptr}));
    CHECK_FALSE(matches(*msg, {FLUX_MSGTYPE_REQUEST, FLUX_MATCHTAG_NONE, "job.state"}));
    msg->push_route("client");
    CHECK_FALSE(matches(*msg, {FLUX_MSGTYPE_REQUEST, 4, nullptr}));
}

// Mutants: a held request is compared from its first sender, whose name the sender may have written himself; a cancel
// of one connection ends the requests of those behind it.
TEST_CASE("message: a disconnect ends the requests of its connection and of those behind it, a cancel its own") {
    const auto from = [](const std::vector<std::string>& routes, std::uint32_t matchtag) {
        auto msg = make_request("a.b", nullptr);
        for (const std::string& route : routes) {
            msg->push_route(route);
        }
        msg->userid = 7;
        msg->rolemask = FLUX_ROLE_USER;
        msg->aux2 = matchtag;
        return msg;
    };
    const auto direct = from({"one"}, 3), behind = from({"x", "one"}, 3), other = from({"one", "two"}, 3);
    CHECK(flux_disconnect_match(from({"one"}, 0).get(), direct.get()));
    CHECK(flux_disconnect_match(from({"one"}, 0).get(), behind.get()));
    CHECK_FALSE(flux_disconnect_match(from({"one"}, 0).get(), other.get()));
    CHECK_FALSE(flux_disconnect_match(from({"x", "one"}, 0).get(), direct.get()));
    CHECK_FALSE(flux_disconnect_match(from({}, 0).get(), direct.get()));
    CHECK(flux_disconnect_match(from({}, 0).get(), from({}, 3).get()));
    const auto cancel = [&](const std::vector<std::string>& routes) {
        auto msg = from(routes, 0);
        msg->set_payload_text(R"({"matchtag":3})");
        return msg;
    };
    CHECK(flux_cancel_match(cancel({"one"}).get(), direct.get()));
    CHECK_FALSE(flux_cancel_match(cancel({"one"}).get(), behind.get()));
    CHECK(flux_cancel_match(cancel({"x", "one"}).get(), behind.get()));
}
