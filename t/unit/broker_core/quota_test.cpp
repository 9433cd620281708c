// SPDX-License-Identifier: LGPL-3.0-only
// What a guest may hold: charges end with their last holder, connections are counted, complaints grow rare.
#include "broker/core/quota.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "broker/api/connector.hpp"
#include "broker/core/module_channel.hpp"

using namespace weir::broker;

TEST_CASE("quota: a charge lasts as long as its last holder") {
    auto quota = std::make_shared<Quota>(1000, 2);
    {
        auto charge = std::make_shared<const Charge>(quota, 600);
        CHECK(quota->bytes() == 600);
        CHECK(quota->has_room(400));
        CHECK_FALSE(quota->has_room(401));
        const std::shared_ptr<const Charge> other = charge;
        charge.reset();
        CHECK(quota->bytes() == 600);
    }
    CHECK(quota->bytes() == 0);
    CHECK_FALSE(quota->has_room(std::size_t(-1)));
}

TEST_CASE("quota: the owner has no limit, a guest has few connections, all guests together have a share") {
    Quotas quotas(10, Quota::guest_connections_max + 5);
    CHECK_FALSE(quotas.of(10)->is_limited());
    CHECK(quotas.of(10)->has_room(std::size_t(1) << 40));
    for (std::size_t i = 0; i < Quota::guest_connections_max; ++i) {
        REQUIRE(quotas.may_connect(20));
        quotas.of(20)->connect();
    }
    CHECK_FALSE(quotas.may_connect(20));
    for (int i = 0; i < 5; ++i) {
        REQUIRE(quotas.may_connect(21));
        quotas.of(21)->connect();
    }
    CHECK_FALSE(quotas.may_connect(21));
    CHECK_FALSE(quotas.may_connect(22));
    CHECK(quotas.may_connect(10));
    quotas.of(20)->disconnect();
    CHECK(quotas.may_connect(22));
}

TEST_CASE("quota: the errors of a guest are told ever more rarely, those of the owner always") {
    Quota guest(1, 1);
    int told = 0;
    for (int i = 0; i < 1000; ++i) {
        told += guest.is_worth_telling() ? 1 : 0;
    }
    CHECK(told == 10);
    Quotas quotas(10, 1);
    CHECK(quotas.of(10)->is_worth_telling());
    CHECK(quotas.of(10)->is_worth_telling());
    CHECK(quotas.of(10)->is_worth_telling());
}

TEST_CASE("channel: without a peer a message is refused, and nothing stays charged") {
    Loop loop;
    ChannelPump pump(loop);
    auto quota = std::make_shared<Quota>(1000, 1);
    ModuleChannel channel(pump, "nobody", [](const std::string&) {});
    Packet packet = Packet::make({1, 0, {}, 0, 1}, "a.b", {});
    packet.set_charge(std::make_shared<const Charge>(quota, 100));
    CHECK_FALSE(channel.send(packet));
    packet = Packet::make({1, 0, {}, 0, 1}, "a.b", {});
    CHECK(quota->bytes() == 0);
}

TEST_CASE("channel: a message is charged until the module has read it, in the module's thread") {
    Loop loop;
    ChannelPump pump(loop);
    auto quota = std::make_shared<Quota>(1000, 1);
    ModuleChannel channel(pump, "module", [](const std::string&) {});
    auto peer = Channel::connect(pump.context(), channel.address());
    REQUIRE(peer);
    {
        Packet packet = Packet::make({1, 0, {}, 0, 1}, "a.b", "text");
        packet.set_charge(std::make_shared<const Charge>(quota, 100));
        CHECK(channel.send(packet));
    }
    CHECK(quota->bytes() == 100);
    std::thread module([&peer] {
        const auto msg = peer->recv();
        CHECK(msg);
    });
    module.join();
    CHECK(quota->bytes() == 0);
}
