// SPDX-License-Identifier: LGPL-3.0-only
// The ZeroMQ channel between two threads: nothing is lost to edge-triggered descriptors, everything keeps its order.
#include <zmq.h>

#include <atomic>
#include <thread>

#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using namespace weir::broker::test;

namespace {

struct Context {
    void* zmq = zmq_ctx_new();
    ~Context() { zmq_ctx_term(zmq); }
};

/// A module's thread: echoes svc.echo, ends on svc.shutdown; its own requests svc.ask are answered by the router.
void module_thread(Channel channel) {
    flux_t* h = handle_create(connector_from_channel(std::move(channel)), 0);
    const flux_msg_handler_spec table[] = {
        {FLUX_MSGTYPE_REQUEST, "svc.echo",
         [](flux_t* self, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
             const char* text = nullptr;
             (void)flux_request_decode(msg, nullptr, &text);
             (void)flux_respond(self, msg, text);
         },
         FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "svc.ask",
         [](flux_t* self, flux_msg_handler_t*, const flux_msg_t* msg, void*) {
             // A synchronous call while requests pile up.
             flux_future_t* f = flux_rpc(self, "router.ask", nullptr, FLUX_NODEID_ANY, 0);
             const char* text = nullptr;
             (void)flux_rpc_get(f, &text);
             (void)flux_respond(self, msg, text);
             flux_future_destroy(f);
         },
         0},
        {FLUX_MSGTYPE_REQUEST, "svc.shutdown",
         [](flux_t* self, flux_msg_handler_t*, const flux_msg_t*, void*) { flux_reactor_stop(flux_get_reactor(self)); },
         0},
        FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    (void)flux_msg_handler_addvec(h, table, nullptr, &handlers);
    (void)flux_reactor_run(flux_get_reactor(h), 0);
    flux_msg_handler_delvec(handlers);
    flux_close(h);
}

MessagePtr request(const char* topic, uint32_t tag) {
    auto msg = make_request(topic, ("{\"n\":" + std::to_string(tag) + "}").c_str());
    msg->push_route("client");
    msg->rolemask = FLUX_ROLE_OWNER;
    msg->aux2 = tag;
    return msg;
}

/// The router's loop for one module: waits for the descriptor, then looks at the events until there are none.
MessagePtr next(Channel& router) {
    while (true) {
        if (auto msg = router.recv()) {
            return msg;
        }
        REQUIRE(errno == EAGAIN);
        pollfd p{router.fd(), POLLIN, 0};
        if ((router.events() & FLUX_POLLIN) == 0) {
            REQUIRE(poll(&p, 1, 10'000) == 1);
        }
    }
}

}  // namespace

TEST_CASE("channel: every request is answered, in order, while the module calls back") {
    Context context;
    auto router = Channel::bind(context.zmq, "inproc://module");
    REQUIRE(router);
    auto end = Channel::connect(context.zmq, "inproc://module");
    REQUIRE(end);
    std::thread module(module_thread, std::move(end).value());
    constexpr uint32_t count = 20'000;
    uint32_t sent = 0;
    uint32_t answered = 0;
    bool in_order = true;
    while (answered < count) {
        // Bursts of different sizes, so that the module is caught both waiting and busy.
        for (uint32_t burst = 1 + answered % 97; burst > 0 && sent < count; --burst) {
            ++sent;
            REQUIRE(router->send(*request(sent % 10 == 0 ? "svc.ask" : "svc.echo", sent)) == 0);
        }
        while (answered < sent) {
            const auto msg = next(*router);
            if (msg->type == FLUX_MSGTYPE_REQUEST) {
                REQUIRE(msg->topic == "router.ask");
                REQUIRE(router->send(*make_response(*msg, 0)) == 0);
                continue;
            }
            ++answered;
            in_order = in_order && msg->matchtag() == answered;
        }
    }
    CHECK(in_order);
    REQUIRE(router->send(*request("svc.shutdown", 0)) == 0);
    module.join();
}

TEST_CASE("channel: sending to nobody is EPIPE, not a wait") {
    Context context;
    auto alone = Channel::bind(context.zmq, "inproc://alone");
    REQUIRE(alone);
    CHECK(alone->send(*request("svc.echo", 1)) == -1);
    CHECK(errno == EPIPE);
    CHECK_FALSE(alone->recv());
    CHECK(errno == EAGAIN);
    const auto second = Channel::bind(context.zmq, "inproc://alone");
    REQUIRE_FALSE(second);
    CHECK(second.error().code == std::errc::address_in_use);
}

TEST_CASE("channel: a blocking wait ends with its timeout") {
    Context context;
    auto router = Channel::bind(context.zmq, "inproc://wait");
    auto end = Channel::connect(context.zmq, "inproc://wait");
    REQUIRE(end);
    flux_t* h = handle_create(connector_from_channel(std::move(end).value()), 0);
    const Future f(flux_rpc(h, "svc.get", nullptr, FLUX_NODEID_ANY, 0));
    CHECK(flux_future_wait_for(f.get(), 0.002) == -1);
    CHECK(errno == ETIMEDOUT);
    flux_close(h);
}
