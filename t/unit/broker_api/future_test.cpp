// SPDX-License-Identifier: LGPL-3.0-only
// Futures and RPCs against a scripted peer: waiting, continuations, streams, timeouts, ends in odd places.
#include <functional>
#include <thread>
#include <vector>

#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using namespace weir::broker::test;

namespace {

using FutureBody = std::function<void(flux_future_t*)>;
void run_future_body(flux_future_t* f, void* arg) {
    (*static_cast<FutureBody*>(arg))(f);
}

Future rpc(Pair& pair, int flags = 0) {
    Future f(flux_rpc_pack(pair.h(), "svc.get", FLUX_NODEID_ANY, flags, "{s:i}", "n", 1));
    REQUIRE(f);
    return f;
}

std::string text_of(flux_future_t* f) {
    const char* s = nullptr;
    return flux_rpc_get(f, &s) < 0 ? std::string("error: ") + flux_future_error_string(f) : s != nullptr ? s : "none";
}

}  // namespace

TEST_CASE("rpc: the request on the wire") {
    Pair pair;
    const auto f = rpc(pair, FLUX_RPC_STREAMING);
    const auto request = pair.sent();
    CHECK(request->topic == "svc.get");
    CHECK(request->payload_text() == std::string("{\"n\":1}"));
    CHECK(request->flags == (FLUX_MSGFLAG_TOPIC | FLUX_MSGFLAG_PAYLOAD | FLUX_MSGFLAG_ROUTE | FLUX_MSGFLAG_STREAMING));
    CHECK(request->routes.empty());
    CHECK(request->matchtag() == flux_rpc_get_matchtag(f.get()));
    CHECK(request->aux1 == FLUX_NODEID_ANY);
    CHECK(request->userid == FLUX_USERID_UNKNOWN);
}

TEST_CASE("rpc: without response there is no tag and the future is ready") {
    Pair pair;
    const auto f = rpc(pair, FLUX_RPC_NORESPONSE);
    CHECK(flux_future_is_ready(f.get()));
    CHECK(flux_future_get(f.get(), nullptr) == 0);
    const auto request = pair.sent();
    CHECK(request->matchtag() == FLUX_MATCHTAG_NONE);
    CHECK(request->has(FLUX_MSGFLAG_NORESPONSE));
}

TEST_CASE("rpc: wrong calls are EINVAL and send nothing") {
    Pair pair;
    CHECK(flux_rpc(nullptr, "a", nullptr, FLUX_NODEID_ANY, 0) == nullptr);
    CHECK(flux_rpc(pair.h(), nullptr, nullptr, FLUX_NODEID_ANY, 0) == nullptr);
    CHECK(flux_rpc(pair.h(), "a", nullptr, FLUX_NODEID_ANY, 4) == nullptr);
    CHECK(errno == EINVAL);
    CHECK(flux_rpc_pack(pair.h(), "a", FLUX_NODEID_ANY, 0, "[i]", 1) == nullptr);
    CHECK(errno == EINVAL);
    CHECK(pair.sent_nothing());
}

TEST_CASE("future: waiting leaves other messages in their order") {
    Pair pair;
    const auto first = rpc(pair);
    const auto second = rpc(pair);
    const auto request1 = pair.sent();
    const auto request2 = pair.sent();
    pair.give_request("svc.a");
    pair.respond(*request1, "{\"v\":1}");
    pair.give_request("svc.b");
    pair.respond(*request2, "{\"v\":2}");
    int v = 0;
    CHECK(flux_rpc_get_unpack(second.get(), "{s:i}", "v", &v) == 0);
    CHECK(v == 2);
    CHECK_FALSE(flux_future_is_ready(first.get()));
    std::string order;
    for (int i = 0; i < 3; ++i) {
        flux_msg_t* msg = flux_recv(pair.h(), FLUX_MATCH_ANY, FLUX_O_NONBLOCK);
        REQUIRE(msg != nullptr);
        order += msg->type == FLUX_MSGTYPE_RESPONSE ? "r" : msg->topic.substr(4);
        flux_msg_destroy(msg);
    }
    CHECK(order == "arb");
}

TEST_CASE("future: waiting blocks until the response comes") {
    Pair pair;
    const auto f = rpc(pair);
    const auto response = make_response(*pair.sent(), 0);
    response->set_payload_text("{}");
    std::thread peer([&] { (void)pair.try_give(*response); });
    CHECK(text_of(f.get()) == "{}");
    peer.join();
}

TEST_CASE("future: timeouts of waiting do not fulfil it") {
    Pair pair;
    const auto f = rpc(pair);
    CHECK(flux_future_wait_for(f.get(), 0) == -1);
    CHECK(errno == ETIMEDOUT);
    CHECK(flux_future_wait_for(f.get(), 0.001) == -1);
    CHECK(errno == ETIMEDOUT);
    CHECK_FALSE(flux_future_is_ready(f.get()));
    pair.respond(*pair.sent(), "{}");
    CHECK(flux_future_wait_for(f.get(), 1) == 0);
}

TEST_CASE("future: an error response carries its text") {
    Pair pair;
    const auto f = rpc(pair);
    pair.respond(*pair.sent(), "no such thing", ENOENT);
    CHECK(flux_rpc_get(f.get(), nullptr) == -1);
    CHECK(errno == ENOENT);
    CHECK(flux_future_has_error(f.get()));
    CHECK(flux_future_error_string(f.get()) == std::string("no such thing"));
    const auto g = rpc(pair);
    pair.respond(*pair.sent(), nullptr, EPERM);
    CHECK(text_of(g.get()) == "error: Operation not permitted");
}

TEST_CASE("future: the peer goes away while waiting") {
    Pair pair;
    const auto f = rpc(pair);
    pair.hang_up();
    CHECK(flux_future_get(f.get(), nullptr) == -1);
    CHECK(errno == ECONNRESET);
    CHECK_FALSE(flux_future_is_ready(f.get()));
}

TEST_CASE("future: continuations run in the order of their responses, and the reactor ends after the last") {
    Pair pair;
    std::vector<Future> all;
    std::vector<size_t> order;
    std::vector<FutureBody> bodies(3);
    for (size_t i = 0; i < 3; ++i) {
        all.push_back(rpc(pair));
        bodies[i] = [&order, i](flux_future_t*) { order.push_back(i); };
        REQUIRE(flux_future_then(all[i].get(), -1, run_future_body, &bodies[i]) == 0);
    }
    std::vector<MessagePtr> requests{pair.sent(), pair.sent(), pair.sent()};
    for (const size_t i : {2, 0, 1}) {
        pair.respond(*requests[i], "{}");
    }
    CHECK(pair.run() == 0);
    CHECK(order == std::vector<size_t>{2, 0, 1});
}

TEST_CASE("future: then() on a fulfilled future calls back soon") {
    Pair pair;
    const auto f = rpc(pair);
    pair.respond(*pair.sent(), "{}");
    REQUIRE(flux_future_wait_for(f.get(), -1) == 0);
    int calls = 0;
    FutureBody body = [&](flux_future_t*) { ++calls; };
    REQUIRE(flux_future_then(f.get(), -1, run_future_body, &body) == 0);
    CHECK(calls == 0);
    CHECK(pair.run() == 0);
    CHECK(calls == 1);
}

TEST_CASE("future: a stream is taken one response a call until its end") {
    Pair pair;
    std::string seen;
    flux_future_t* f = rpc(pair, FLUX_RPC_STREAMING).release();
    FutureBody body = [&](flux_future_t* self) {
        seen += text_of(self) + ";";
        if (flux_future_has_error(self)) {
            flux_future_destroy(self);
        } else {
            flux_future_reset(self);
        }
    };
    REQUIRE(flux_future_then(f, -1, run_future_body, &body) == 0);
    const auto request = pair.sent();
    for (const char* payload : {"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"}) {
        pair.respond(*request, payload);
    }
    pair.respond(*request, nullptr, ENODATA);
    CHECK(pair.run() == 0);
    CHECK(seen == "{\"a\":1};{\"a\":2};{\"a\":3};error: No data available;");
}

TEST_CASE("future: responses of a stream queue up while nobody takes them") {
    Pair pair;
    const auto f = rpc(pair, FLUX_RPC_STREAMING);
    const auto request = pair.sent();
    FutureBody ignore = [](flux_future_t*) {};
    REQUIRE(flux_future_then(f.get(), -1, run_future_body, &ignore) == 0);
    pair.respond(*request, "{\"a\":1}");
    pair.respond(*request, "{\"a\":2}");
    pair.respond(*request, nullptr, ENODATA);
    CHECK(pair.run() == 0);
    CHECK(text_of(f.get()) == "{\"a\":1}");
    flux_future_reset(f.get());
    CHECK(text_of(f.get()) == "{\"a\":2}");
    flux_future_reset(f.get());
    CHECK(text_of(f.get()) == "error: No data available");
    flux_future_reset(f.get());
    CHECK(flux_future_wait_for(f.get(), -1) == -1);
    CHECK(errno == EDEADLK);
}

TEST_CASE("future: the timeout of then() fulfils with ETIMEDOUT, and a reset starts it again") {
    Pair pair;
    const auto f = rpc(pair, FLUX_RPC_STREAMING);
    int timeouts = 0;
    FutureBody body = [&](flux_future_t* self) {
        CHECK(flux_future_get(self, nullptr) == -1);
        CHECK(errno == ETIMEDOUT);
        if (++timeouts == 2) {
            flux_reactor_stop(pair.reactor());
        } else {
            flux_future_reset(self);
        }
    };
    REQUIRE(flux_future_then(f.get(), 0.001, run_future_body, &body) == 0);
    CHECK(pair.run() > 0);
    CHECK(timeouts == 2);
}

TEST_CASE("future: a late response to a destroyed future disturbs nobody, and its tag is used again") {
    Pair pair;
    uint32_t tag = 0;
    {
        const auto f = rpc(pair);
        tag = flux_rpc_get_matchtag(f.get());
    }
    const auto first = pair.sent();
    const auto g = rpc(pair);
    CHECK(flux_rpc_get_matchtag(g.get()) != tag);
    const auto second = pair.sent();
    pair.respond(*first, "{\"old\":true}");
    pair.respond(*second, "{\"new\":true}");
    int calls = 0;
    FutureBody body = [&](flux_future_t* self) {
        ++calls;
        CHECK(text_of(self) == "{\"new\":true}");
    };
    REQUIRE(flux_future_then(g.get(), -1, run_future_body, &body) == 0);
    CHECK(pair.run() == 0);
    CHECK(calls == 1);
    const auto next = rpc(pair);
    CHECK(flux_rpc_get_matchtag(next.get()) == tag);
}

TEST_CASE("future: a continuation may wait for another future") {
    Pair pair;
    const auto outer = rpc(pair);
    const auto request = pair.sent();
    std::string inner_text;
    FutureBody body = [&](flux_future_t*) {
        const auto inner = rpc(pair);
        const auto inner_request = pair.sent();
        pair.give_request("svc.later");
        pair.respond(*inner_request, "{\"inner\":1}");
        inner_text = text_of(inner.get());
    };
    REQUIRE(flux_future_then(outer.get(), -1, run_future_body, &body) == 0);
    pair.respond(*request, "{}");
    CHECK(pair.run() == 0);
    CHECK(inner_text == "{\"inner\":1}");
    flux_msg_t* later = flux_recv(pair.h(), FLUX_MATCH_ANY, FLUX_O_NONBLOCK);
    REQUIRE(later != nullptr);
    CHECK(later->topic == "svc.later");
    flux_msg_destroy(later);
}

TEST_CASE("future: it may outlive its handle") {
    Pair pair;
    const auto done = rpc(pair);
    const auto open = rpc(pair);
    pair.respond(*pair.sent(), "{\"v\":1}");
    REQUIRE(flux_future_wait_for(done.get(), -1) == 0);
    FutureBody body = [](flux_future_t*) { FAIL("called after the handle was closed"); };
    REQUIRE(flux_future_then(open.get(), -1, run_future_body, &body) == 0);
    pair.close();
    CHECK(text_of(done.get()) == "{\"v\":1}");
    CHECK(flux_future_get_flux(open.get()) == nullptr);
    CHECK(flux_future_wait_for(open.get(), -1) == -1);
    CHECK(errno == EDEADLK);
}

TEST_CASE("future: aux items live as long as it does") {
    Pair pair;
    static int freed = 0;
    freed = 0;
    int value = 0;
    auto f = rpc(pair);
    REQUIRE(flux_future_aux_set(f.get(), "k", &value, [](void*) { ++freed; }) == 0);
    CHECK(flux_future_aux_get(f.get(), "k") == &value);
    CHECK(flux_future_aux_get(f.get(), "x") == nullptr);
    CHECK(errno == ENOENT);
    f.reset();
    CHECK(freed == 1);
}
