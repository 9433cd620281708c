// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/idset.hpp"

#include <catch2/catch.hpp>

using namespace weir::broker;

TEST_CASE("idset: the examples of RFC 22") {
    CHECK(*decode_idset("") == Ids{});
    CHECK(*decode_idset("2") == Ids{2});
    CHECK(*decode_idset("1,5,3-4") == Ids{1, 3, 4, 5});
    CHECK(*decode_idset("[0-2,7]") == Ids{0, 1, 2, 7});
    CHECK(encode_idset({0, 1, 2, 7, 9, 10}) == "0-2,7,9-10");
    CHECK(encode_idset({}).empty());
}

TEST_CASE("idset: what is none is refused with the text") {
    for (const char* text : {"x", "1,,2", "3-1", "1-", "-1", "1.5", "0-99999999"}) {
        const auto ids = decode_idset(text);
        REQUIRE_FALSE(ids);
        CHECK(ids.error().message.find(text) != std::string::npos);
    }
}

TEST_CASE("hostlist: brackets unfold in order with their zeros") {
    CHECK(*decode_hostlist("node[0-2,08-10]x,login") ==
          std::vector<std::string>{"node0x", "node1x", "node2x", "node08x", "node09x", "node10x", "login"});
    CHECK(*decode_hostlist("a,b") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("hostlist: runs fold, single hosts stay") {
    CHECK(encode_hostlist({"node0", "node1", "node2", "node5"}) == "node[0-2,5]");
    CHECK(encode_hostlist({"login", "node07", "node08"}) == "login,node[07-08]");
    CHECK(encode_hostlist({"node7"}) == "node7");
    CHECK(encode_hostlist({"a1", "b1"}) == "a1,b1");
    CHECK(encode_hostlist({}).empty());
}

TEST_CASE("hostlist: what is none is refused with the text") {
    for (const char* text : {"", "a[0-", "a]0[", "a[x]", "a,,b", "a[3-1]"}) {
        const auto hosts = decode_hostlist(text);
        REQUIRE_FALSE(hosts);
        CHECK(hosts.error().message.find("hostlist") != std::string::npos);
    }
}
