// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/router.hpp"

#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>
#include <vector>

using weir::Json;
using namespace weir::broker;

namespace {

constexpr Cred OWNER{10, FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL};
constexpr Cred GUEST{20, FLUX_ROLE_USER | FLUX_ROLE_LOCAL};

class Peer final : public Endpoint {
  public:
    Peer(Router& router, std::string uuid, Cred who = OWNER, std::string module_name = {})
        : Endpoint(std::move(uuid), std::move(module_name)), router_(router) {
        cred = who;
        router.attach(*this);
    }
    bool deliver(const Packet& packet) override {
        got.push_back(packet);
        return is_open;
    }
    void request(std::string_view topic, std::uint8_t flags = 0, std::uint32_t nodeid = FLUX_NODEID_ANY) {
        router_.receive(*this, Packet::make({FLUX_MSGTYPE_REQUEST, flags, cred, nodeid, 5}, topic, {}));
    }
    void event(std::string_view topic, std::uint8_t flags = 0) {
        router_.receive(*this, Packet::make({FLUX_MSGTYPE_EVENT, flags, cred, 0, 0}, topic, {}));
    }
    void answer(const Packet& asked, std::string_view text) {
        router_.receive(*this, asked.response(0, std::string(text) + '\0', cred));
    }
    std::vector<Packet> got;
    bool is_open = true;

  private:
    Router& router_;
};

}  // namespace

TEST_CASE("router: a request goes to the service's endpoint and its response back to the client") {
    Router router(OWNER);
    Peer client(router, "client");
    Peer module(router, "module");
    REQUIRE(router.services().add("kvs", "module"));
    client.request("kvs.lookup.more");
    REQUIRE(module.got.size() == 1);
    CHECK(module.got[0].route_last() == "client");
    module.answer(module.got[0], "yes");
    REQUIRE(client.got.size() == 1);
    CHECK(client.got[0].text() == "yes");
    CHECK(client.got[0].route_count() == 0);
    CHECK(client.got[0].aux2() == 5);
}

TEST_CASE("router: a guest's long payload is refused before a method of the broker reads it") {
    Router router(OWNER);
    Peer guest(router, "guest", GUEST), owner(router, "owner");
    std::size_t called = 0;
    router.add_method("own.get", FLUX_ROLE_USER, [&](const Call&) { ++called; });
    router.add_method(
        "own.put", FLUX_ROLE_USER, [&](const Call&) { ++called; }, 1u << 20);
    const auto send = [&](Peer& from, const char* topic, std::size_t size) {
        const std::string text = std::string(size, 'x') + '\0';
        router.receive(from, Packet::make({FLUX_MSGTYPE_REQUEST, 0, from.cred, FLUX_NODEID_ANY, 5}, topic, text));
        return std::exchange(called, 0) == 1;
    };
    CHECK(send(guest, "own.get", guest_payload_bytes_max));
    CHECK(guest.got.empty());
    CHECK_FALSE(send(guest, "own.get", guest_payload_bytes_max + 1));
    REQUIRE(guest.got.size() == 1);
    CHECK(guest.got[0].aux1() == EMSGSIZE);
    CHECK(guest.got[0].text() == "a guest's own.get has at most 65536 bytes");
    CHECK(send(guest, "own.put", guest_payload_bytes_max + 1));
    CHECK(send(owner, "own.get", guest_payload_bytes_max + 1));
}

TEST_CASE("router: a guest's long payload is refused before a module gets it, but for the methods that need it") {
    Router router(OWNER);
    Peer guest(router, "guest", GUEST), owner(router, "owner"), tool(router, "tool");
    Peer module(router, "module", OWNER, "job-manager");
    for (const char* service : {"job-manager", "job-list", "feasibility", "job-route"}) {
        REQUIRE(router.services().add(service, "module"));
    }
    REQUIRE(router.services().add("tool", "tool"));
    const auto send = [&](Peer& from, const char* topic, std::size_t size, std::uint8_t flags = 0) {
        const std::string text = std::string(size, 'x') + '\0';
        router.receive(from, Packet::make({FLUX_MSGTYPE_REQUEST, flags, from.cred, FLUX_NODEID_ANY, 5}, topic, text));
        return std::exchange(module.got, {}).size() + std::exchange(tool.got, {}).size() == 1;
    };
    for (const char* topic : {"job-manager.getattr", "job-manager.raise", "job-manager.memo", "job-list.list-id"}) {
        CHECK(send(guest, topic, 64u << 10));
        CHECK_FALSE(send(guest, topic, (64u << 10) + 1));
        REQUIRE(guest.got.size() == 1);
        CHECK(guest.got[0].aux1() == EMSGSIZE);
        CHECK(guest.got[0].text() == "a guest's " + std::string(topic) + " has at most 65536 bytes");
        CHECK_FALSE(send(guest, topic, 1u << 20, FLUX_MSGFLAG_NORESPONSE));
        CHECK(std::exchange(guest.got, {}).size() == 1);
        CHECK(send(owner, topic, 1u << 20));
    }
    for (const char* topic : {"job-list.list", "feasibility.check"}) {
        CHECK(send(guest, topic, 256u << 10));
        CHECK_FALSE(send(guest, topic, (256u << 10) + 1));
        CHECK(send(owner, topic, 1u << 20));
    }
    CHECK(send(guest, "job-route.report", 1u << 20));
    CHECK(send(guest, "tool.get", 1u << 20));  // a connection's service: its own affair
}

TEST_CASE("router: an unknown service is answered with ENOSYS and its name") {
    Router router(OWNER);
    Peer client(router, "client");
    client.request("bogus.method");
    REQUIRE(client.got.size() == 1);
    CHECK(client.got[0].aux1() == ENOSYS);
    CHECK(client.got[0].text() == "No service matching bogus is registered");
    client.request("bogus.method", FLUX_MSGFLAG_NORESPONSE);
    CHECK(client.got.size() == 1);
}

TEST_CASE("router: an endpoint that takes no requests any more counts as gone") {
    Router router(OWNER);
    Peer client(router, "client");
    Peer module(router, "module");
    module.is_open = false;
    REQUIRE(router.services().add("kvs", "module"));
    client.request("kvs.lookup");
    REQUIRE(client.got.size() == 1);
    CHECK(client.got[0].aux1() == ENOSYS);
}

TEST_CASE("router: another rank or an upstream broker cannot be reached") {
    Router router(OWNER);
    Peer client(router, "client");
    REQUIRE(router.services().add("kvs", "client"));
    client.request("kvs.x", 0, 1);
    client.request("kvs.x", FLUX_MSGFLAG_UPSTREAM, 0);
    REQUIRE(client.got.size() == 2);
    CHECK(client.got[0].aux1() == EHOSTUNREACH);
    CHECK(client.got[1].aux1() == EHOSTUNREACH);
}

TEST_CASE("router: methods of the broker ask for the owner unless a role is named") {
    Router router(OWNER);
    Peer guest(router, "guest", GUEST);
    int calls = 0;
    router.add_method("attr.set", 0, [&calls](const Call& call) {
        call.respond();
        ++calls;
    });
    router.add_method("attr.get", FLUX_ROLE_USER, [&calls](const Call& call) {
        call.respond();
        ++calls;
    });
    guest.request("attr.set");
    CHECK(guest.got.back().aux1() == EPERM);
    CHECK(guest.got.back().text() == "Request requires owner credentials");
    guest.request("attr.get");
    CHECK(guest.got.back().aux1() == 0);
    guest.request("attr.bogus");
    CHECK(guest.got.back().text() == "Unknown service method 'attr.bogus'");
    CHECK(calls == 1);
}

TEST_CASE("router: who leaves is announced once to each service that it used, with its credentials") {
    Router router(OWNER);
    Peer module(router, "module");
    REQUIRE(router.services().add("job-manager", "module"));
    {
        Peer client(router, "client", GUEST);
        client.request("job-manager.events-journal");
        client.request("job-manager.list");
        client.request("job-manager.plugin.method");
        client.request("job-manager.quiet.note", FLUX_MSGFLAG_NORESPONSE);
        client.request("bogus.x");
        module.got.clear();
        router.detach(client);
    }
    REQUIRE(module.got.size() == 2);
    CHECK(module.got[0].topic() == "job-manager.disconnect");
    CHECK(module.got[1].topic() == "job-manager.plugin.disconnect");
    CHECK(module.got[0].has(FLUX_MSGFLAG_NORESPONSE));
    CHECK(module.got[0].cred().userid == GUEST.userid);
    CHECK(module.got[0].route_first() == "client");
}

TEST_CASE("router: disconnect topics replace the last part") {
    CHECK(Router::disconnect_topic("a.b.c") == "a.b.disconnect");
    CHECK(Router::disconnect_topic("a.b") == "a.disconnect");
    CHECK(Router::disconnect_topic("a") == "disconnect");
}

TEST_CASE("router: events are numbered from 1 and reach subscribers only") {
    Router router(OWNER);
    Peer one(router, "one");
    Peer two(router, "two");
    one.subscriptions.add("job");
    two.event("job-state");
    two.event("other");
    two.event("job.x");
    REQUIRE(one.got.size() == 2);
    CHECK(one.got[0].aux1() == 1);
    CHECK(one.got[1].aux1() == 3);
    CHECK(two.got.empty());
}

TEST_CASE("router: a private event reaches the owner and its sender's user alone") {
    Router router(OWNER);
    Peer owner(router, "owner");
    Peer guest(router, "guest", GUEST);
    Peer other(router, "other", {30, FLUX_ROLE_USER});
    for (Peer* peer : {&owner, &guest, &other}) {
        peer->subscriptions.add("");
    }
    guest.event("secret", FLUX_MSGFLAG_PRIVATE);
    CHECK(owner.got.size() == 1);
    CHECK(guest.got.size() == 1);
    CHECK(other.got.empty());
}

TEST_CASE("router: the broker's own calls get their answer, also when the service leaves") {
    Router router(OWNER);
    auto module = std::make_unique<Peer>(router, "module");
    REQUIRE(router.services().add("m", "module"));
    std::vector<int> errors;
    const auto reply = [&errors](int errnum, std::string_view) { errors.push_back(errnum); };
    router.call("m.config-reload", Json::object(), reply);
    REQUIRE(module->got.size() == 1);
    module->answer(module->got[0], "{}");
    CHECK(errors == std::vector<int>{0});
    router.call("m.config-reload", Json::object(), reply);
    router.detach(*module);
    CHECK(errors == std::vector<int>{0, ECONNRESET});
    router.call("m.config-reload", Json::object(), reply);
    CHECK(errors == std::vector<int>{0, ECONNRESET, ENOSYS});
}

TEST_CASE("router: nobody but the asked service can answer the broker") {
    Router router(OWNER);
    Peer module(router, "module");
    Peer guest(router, "guest", GUEST);
    REQUIRE(router.services().add("m", "module"));
    int answers = 0;
    router.call("m.x", Json(), [&answers](int, std::string_view) { ++answers; });
    guest.answer(module.got[0], "forged");
    CHECK(answers == 0);
    module.answer(module.got[0], "true");
    CHECK(answers == 1);
}

TEST_CASE("router: a guest answers what he was asked, and nothing else") {
    Router router(OWNER);
    Peer client(router, "client");
    Peer module(router, "module");
    Peer guest(router, "guest", GUEST);
    REQUIRE(router.services().add("kvs", "module"));
    REQUIRE(router.services().add("20-own", "guest"));
    client.request("20-own.ask");
    guest.answer(guest.got.at(0), "yes");
    guest.answer(guest.got.at(0), "a second answer");
    CHECK(client.got.size() == 1);
    client.request("kvs.lookup");
    guest.answer(module.got.at(0), "forged");
    CHECK(client.got.size() == 1);
    module.answer(module.got.at(0), "yes");
    CHECK(client.got.size() == 2);
}

TEST_CASE("router: a guest's stream of answers ends with an error, or with its caller") {
    Router router(OWNER);
    auto client = std::make_unique<Peer>(router, "client");
    Peer guest(router, "guest", GUEST);
    REQUIRE(router.services().add("20-own", "guest"));
    client->request("20-own.watch", FLUX_MSGFLAG_STREAMING);
    const Packet asked = guest.got.at(0);
    guest.answer(asked, "one");
    guest.answer(asked, "two");
    CHECK(client->got.size() == 2);
    router.receive(guest, asked.response(ENODATA, {}, GUEST));
    guest.answer(asked, "after the end");
    CHECK(client->got.size() == 3);
    client->request("20-own.watch", FLUX_MSGFLAG_STREAMING);
    router.detach(*client);
    client = std::make_unique<Peer>(router, "client");  // the same uuid, and nothing asked
    guest.answer(asked, "late");
    CHECK(client->got.empty());
}

TEST_CASE("router: what an endpoint offered goes with it") {
    Router router(OWNER);
    Peer client(router, "client");
    {
        Peer module(router, "module");
        REQUIRE(router.services().add("sched", "module"));
        router.detach(module);
    }
    CHECK(router.services().find("sched").empty());
    client.request("sched.alloc");
    CHECK(client.got.back().aux1() == ENOSYS);
}
