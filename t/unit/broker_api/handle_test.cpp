// SPDX-License-Identifier: LGPL-3.0-only
// The handle: attributes, configuration, log lines, counters, its descriptor in a foreign loop, broken connections.
#include <vector>

#include "broker/api/watcher.hpp"
#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using namespace weir::broker::test;

namespace {
bool is_readable(int fd) {
    pollfd p{fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
}
void count_call(flux_future_t*, void* arg) {
    ++*static_cast<int*>(arg);
}
}  // namespace

TEST_CASE("attributes: an immutable one is asked once, another each time, a primed one never") {
    Pair pair;
    handle_prime_attr(pair.h(), "rank", "3");
    uint32_t rank = 0;
    CHECK(flux_get_rank(pair.h(), &rank) == 0);
    CHECK(rank == 3);
    const auto get = [&](const char* name, const char* answer, int errnum = 0) {
        const auto request = make_request("attr.get", nullptr);
        request->aux2 = 1;
        pair.respond(*request, answer, errnum);
        const char* value = flux_attr_get(pair.h(), name);
        CHECK(pair.sent()->matchtag() == 1);
        return value != nullptr ? std::string(value) : std::string("none");
    };
    CHECK(get("size", R"({"value":"1","flags":1})") == "1");
    CHECK(flux_attr_get(pair.h(), "size") == std::string("1"));
    CHECK(get("x", R"({"value":"a","flags":0})") == "a");
    CHECK(get("x", R"({"value":"b","flags":0})") == "b");
    CHECK(get("y", nullptr, ENOENT) == "none");
    CHECK(errno == ENOENT);
    CHECK(pair.sent_nothing());
}

TEST_CASE("configuration: never null, unpacked with a reason, decoded from a reload") {
    Pair pair;
    flux_error_t error;
    int n = 0;
    CHECK(flux_conf_unpack(flux_get_conf(pair.h()), &error, "{s?{s?i}}", "weir", "n", &n) == 0);
    const auto reload = make_request("svc.config-reload", R"({"weir":{"n":5}})");
    flux_conf_t* conf = nullptr;
    REQUIRE(flux_module_config_request_decode(reload.get(), &conf) == 0);
    REQUIRE(flux_set_conf_new(pair.h(), conf) == 0);
    CHECK(flux_conf_unpack(flux_get_conf(pair.h()), &error, "{s:{s:i}}", "weir", "n", &n) == 0);
    CHECK(n == 5);
    CHECK(flux_conf_unpack(flux_get_conf(pair.h()), &error, "{s:{s:s}}", "weir", "n", &n) == -1);
    CHECK(errno == EINVAL);
    CHECK(std::string(error.text) == "Expected string, got integer");
}

TEST_CASE("log: one request a line, severity and name as the log service reads them") {
    Pair pair;
    handle_prime_attr(pair.h(), "rank", "0");
    handle_set_identity(pair.h(), "svc", "u-u");
    errno = EDOM;
    REQUIRE(flux_log(pair.h(), 3, "two\nlines %d\n", 7) == 0);
    CHECK(errno == EDOM);
    const auto first = pair.sent();
    const auto second = pair.sent();
    CHECK(first->topic == "log.append");
    CHECK(first->payload.substr(0, 5) == "<24>1");
    CHECK(first->payload.find("Z 0 svc ") != std::string::npos);
    CHECK(first->payload.substr(first->payload.size() - 8) == " - - two");
    CHECK(second->payload.substr(second->payload.size() - 12) == " - - lines 7");
    CHECK(pair.sent_nothing());
    CHECK(static_cast<const char*>(flux_aux_get(pair.h(), "flux::name")) == std::string("svc"));
}

TEST_CASE("counters: each message is counted once, also when it was put back") {
    Pair pair;
    const Future f(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    pair.give_request("svc.a");
    pair.respond(*pair.sent(), "{}");
    REQUIRE(flux_future_get(f.get(), nullptr) == 0);
    flux_msg_t* msg = flux_recv(pair.h(), FLUX_MATCH_ANY, FLUX_O_NONBLOCK);
    REQUIRE(msg != nullptr);
    REQUIRE(flux_respond(pair.h(), msg, nullptr) == 0);
    flux_msg_destroy(msg);
    flux_msgcounters_t counters;
    flux_get_msgcounters(pair.h(), &counters);
    CHECK(counters.request_tx == 1);
    CHECK(counters.request_rx == 1);
    CHECK(counters.response_tx == 1);
    CHECK(counters.response_rx == 1);
    CHECK(counters.event_rx == 0);
    flux_clr_msgcounters(pair.h());
    flux_get_msgcounters(pair.h(), &counters);
    CHECK(counters.request_tx == 0);
}

TEST_CASE("events: subscribing is an RPC, publishing carries base64 with the NUL") {
    Pair pair;
    const auto request = make_request("event.subscribe", nullptr);
    request->aux2 = 1;
    pair.respond(*request, nullptr);
    CHECK(flux_event_subscribe(pair.h(), "a.b") == 0);
    auto sent = pair.sent();
    CHECK(sent->topic == "event.subscribe");
    CHECK(sent->payload_text() == std::string("{\"topic\":\"a.b\"}"));
    const Future f(flux_event_publish_pack(pair.h(), "a.b", FLUX_MSGFLAG_PRIVATE, "{s:i}", "n", 1));
    sent = pair.sent();
    CHECK(sent->topic == "event.publish");
    CHECK(sent->aux1 == 0);
    CHECK(sent->payload_text() == std::string("{\"topic\":\"a.b\",\"flags\":32,\"payload\":\"eyJuIjoxfQA=\"}"));
}

TEST_CASE("pollfd: a foreign loop that waits for it misses nothing") {
    Pair pair;
    const int fd = flux_pollfd(pair.h());
    REQUIRE(fd >= 0);
    CHECK((flux_pollevents(pair.h()) & FLUX_POLLIN) == 0);
    CHECK_FALSE(is_readable(fd));
    // More than one turn of the handle's own reactor takes.
    int responses = 0;
    std::vector<Future> all;
    for (int i = 0; i < 200; ++i) {
        all.emplace_back(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
        REQUIRE(flux_future_then(all.back().get(), -1, count_call, &responses) == 0);
        pair.respond(*pair.sent(), "{}");
    }
    int turns = 0;
    while (responses < 200) {
        REQUIRE(is_readable(fd));
        REQUIRE(++turns <= 200);
        REQUIRE(flux_reactor_run(pair.reactor(), FLUX_REACTOR_NOWAIT) >= 0);
    }
    CHECK_FALSE(is_readable(fd));
    // What a synchronous call puts aside must wake the loop again.
    const Future f(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    pair.give_request("svc.a");
    pair.respond(*pair.sent(), "{}");
    REQUIRE(flux_future_get(f.get(), nullptr) == 0);
    CHECK(is_readable(fd));
    CHECK((flux_pollevents(pair.h()) & FLUX_POLLIN) != 0);
}

TEST_CASE("pollfd: the end of the connection is readable and ends the handle's reactor with an error") {
    Pair pair;
    int calls = 0;
    const Future f(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    REQUIRE(flux_future_then(f.get(), -1, count_call, &calls) == 0);
    const int fd = flux_pollfd(pair.h());
    (void)flux_pollevents(pair.h());
    pair.hang_up();
    CHECK(is_readable(fd));
    CHECK(flux_reactor_run(pair.reactor(), FLUX_REACTOR_NOWAIT) == -1);
    CHECK(errno == ECONNRESET);
    CHECK(calls == 0);
    CHECK((flux_pollevents(pair.h()) & FLUX_POLLERR) != 0);
}

TEST_CASE("comms error: a callback that returns 0 keeps the reactor going") {
    Pair pair;
    int errors = 0;
    flux_comms_error_set(
        pair.h(),
        [](flux_t*, void* arg) {
            ++*static_cast<int*>(arg);
            return 0;
        },
        &errors);
    int calls = 0;
    const Future f(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    REQUIRE(flux_future_then(f.get(), -1, count_call, &calls) == 0);
    pair.hang_up();
    CHECK(pair.run() == 0);
    CHECK(errors == 1);
    CHECK(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0) == nullptr);
    CHECK(errno == EPIPE);
}

TEST_CASE("messages already received are handled before the end of the connection is noticed") {
    Pair pair;
    int calls = 0;
    const Future f(flux_rpc(pair.h(), "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    REQUIRE(flux_future_then(f.get(), -1, count_call, &calls) == 0);
    pair.respond(*pair.sent(), "{}");
    pair.hang_up();
    CHECK(pair.run() == 0);
    CHECK(calls == 1);
}

TEST_CASE("handle watcher: called while there is something to receive") {
    Pair pair;
    int received = 0;
    const Watcher w(flux_handle_watcher_create(
        pair.reactor(), pair.h(), FLUX_POLLIN,
        [](flux_reactor_t* r, flux_watcher_t* self, int, void* arg) {
            auto* p = static_cast<std::pair<flux_t*, int*>*>(arg);
            flux_msg_destroy(flux_recv(p->first, FLUX_MATCH_ANY, FLUX_O_NONBLOCK));
            if (++*p->second == 3) {
                flux_watcher_stop(self);
                flux_reactor_stop(r);
            }
        },
        new std::pair<flux_t*, int*>(pair.h(), &received)));
    const std::unique_ptr<std::pair<flux_t*, int*>> owned(static_cast<std::pair<flux_t*, int*>*>(w->argument));
    flux_watcher_start(w.get());
    for (int i = 0; i < 3; ++i) {
        pair.give_request("svc.a");
    }
    CHECK(pair.run() >= 0);
    CHECK(received == 3);
}
