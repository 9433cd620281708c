// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/module_trace.hpp"

#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

using weir::Json;
using namespace weir::broker;

namespace {

constexpr Cred TRACE_OWNER{10, FLUX_ROLE_OWNER | FLUX_ROLE_LOCAL};

class TracePeer final : public Endpoint {
  public:
    TracePeer(Router& router, std::string uuid, std::string module_name = {})
        : Endpoint(std::move(uuid), std::move(module_name)), router_(router) {
        cred = TRACE_OWNER;
        router.attach(*this);
    }
    bool deliver(const Packet& packet) override {
        got.push_back(packet);
        return is_open;
    }
    void request(const char* topic, const std::string& text, std::uint32_t matchtag, std::uint8_t flags = 0) {
        router_.receive(
            *this, Packet::make({FLUX_MSGTYPE_REQUEST, flags, cred, FLUX_NODEID_ANY, matchtag}, topic, text + '\0'));
    }
    void trace(const std::string& filters, std::uint32_t matchtag = 1) {
        request("module.trace", filters, matchtag, FLUX_MSGFLAG_STREAMING);
    }
    /// "kvs rx 1 kvs.get 4 {} 0 " of each answer: module, way, type, topic, size, payload, errnum, error.
    std::vector<std::string> told() {
        std::vector<std::string> lines;
        for (const Packet& packet : std::exchange(got, {})) {
            const Json one = Json::parse_payload(packet.text());
            std::string line = one.string_at("name").value_or("?") + " " + one.string_at("prefix").value_or("?");
            for (const char* key : {"type", "topic", "payload_size", "payload", "errnum"}) {
                const auto text = one.string_at(key);
                line += " " + (text ? *text : one.at(key).dump());
            }
            lines.push_back(line + " " + one.string_at("errstr").value_or("?"));
        }
        return lines;
    }
    std::vector<Packet> got;
    bool is_open = true;

  private:
    Router& router_;
};

struct Traced {
    Router router{TRACE_OWNER};
    ModuleTrace trace{router, [] { return 7.5; }};
    TracePeer tracer{router, "tracer"}, client{router, "client"}, kvs{router, "1", "kvs"}, sched{router, "2", "sched"};
    Traced() {
        REQUIRE(router.services().add("kvs", "1"));
        REQUIRE(router.services().add("sched", "2"));
    }
    void ask(TracePeer& service, const char* topic) {
        client.request(topic, "{}", 5);
        router.receive(service, std::exchange(service.got, {}).back().response(0, std::nullopt, TRACE_OWNER));
    }
};

using TraceLines = std::vector<std::string>;
constexpr const char* ALL_MESSAGES = R"({"names":[],"typemask":15,"topic_glob":"*","full":false})";

}  // namespace

TEST_CASE("module trace: what a module gets and sends is told, until the tracer has gone") {
    Traced all;
    all.ask(all.kvs, "kvs.get");
    all.tracer.trace(ALL_MESSAGES);
    CHECK(all.tracer.told().empty());
    all.ask(all.kvs, "kvs.get");
    CHECK(all.tracer.told() == TraceLines{"kvs rx 1 kvs.get 3 null 0 ", "kvs tx 2 kvs.get 0 null 0 "});
    all.router.detach(all.tracer);
    all.ask(all.kvs, "kvs.get");
    CHECK(all.tracer.told().empty());
    CHECK(all.router.counters().dropped == 0);  // no answer was made
}

TEST_CASE("module trace: names, types and topic choose") {
    Traced all;
    const auto told = [&](const char* filters) {
        all.tracer.trace(filters, 9);
        all.ask(all.kvs, "kvs.get");
        all.ask(all.sched, "sched.why");
        all.tracer.request("module.cancel", R"({"matchtag":9})", 0, FLUX_MSGFLAG_NORESPONSE);
        REQUIRE_FALSE(all.tracer.got.empty());
        CHECK(all.tracer.got.back().aux1() == ENODATA);
        all.tracer.got.pop_back();
        return all.tracer.told();
    };
    const TraceLines of_kvs{"kvs rx 1 kvs.get 3 null 0 ", "kvs tx 2 kvs.get 0 null 0 "};
    CHECK(told(R"({"names":["kvs","none"],"typemask":15,"topic_glob":""})") == of_kvs);
    CHECK(told(R"({"names":[],"typemask":0,"topic_glob":"kvs.*"})") == of_kvs);
    CHECK(told(R"({"names":[],"typemask":2,"topic_glob":"sched.why"})") ==
          TraceLines{"sched tx 2 sched.why 0 null 0 "});
    CHECK(told(R"({"names":["none"],"typemask":15,"topic_glob":"*"})").empty());
    CHECK(told(R"({"names":[],"typemask":15,"topic_glob":"sched"})").empty());
}

TEST_CASE("module trace: a full one has payloads, and what an error says") {
    Traced all;
    all.tracer.trace(R"({"names":[],"typemask":15,"topic_glob":"*","full":true})");
    all.client.request("kvs.get", R"({"key":"a"})", 5);
    all.client.request("kvs.get", "no JSON", 6);
    CHECK(all.tracer.told() == TraceLines{R"(kvs rx 1 kvs.get 12 {"key":"a"} 0 )", "kvs rx 1 kvs.get 8 null 0 "});
    all.router.receive(all.kvs, all.kvs.got.back().response(ENOENT, std::string("no such \xff") + '\0', TRACE_OWNER));
    CHECK(all.tracer.told() == TraceLines{"kvs tx 2 kvs.get 0 null 2 no such ?"});
}

// Mutant: broker/core/module_trace.cpp: if (packet.topic() == trace_topic) { => if (false) {
TEST_CASE("module trace: a module that traces all is not told of what it is told") {
    Traced all;
    all.sched.trace(ALL_MESSAGES);
    all.ask(all.kvs, "kvs.get");
    CHECK(all.sched.told().size() == 2);
}

TEST_CASE("module trace: what a module does not take, and other requests, are not told") {
    Traced all;
    all.tracer.trace(ALL_MESSAGES);
    all.kvs.is_open = false;
    all.client.request("kvs.get", "{}", 5);
    CHECK(all.tracer.told().empty());
    all.tracer.request("module.trace", ALL_MESSAGES, 2);
    REQUIRE(all.tracer.got.size() == 1);
    CHECK(all.tracer.got[0].aux1() == EPROTO);
}
