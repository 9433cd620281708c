// SPDX-License-Identifier: LGPL-3.0-only
// Which handler a message goes to: stacks, globs, roles, unknown methods, changes inside callbacks.
#include <functional>
#include <vector>

#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using namespace weir::broker::test;

namespace {

using HandlerBody = std::function<void(const flux_msg_t*)>;
void run_handler_body(flux_t*, flux_msg_handler_t*, const flux_msg_t* msg, void* arg) {
    (*static_cast<HandlerBody*>(arg))(msg);
}

Handlers add(Pair& pair, int type, const char* topic, HandlerBody& body, uint32_t roles = 0) {
    const flux_msg_handler_spec table[] = {{type, topic, run_handler_body, roles}, FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    REQUIRE(flux_msg_handler_addvec(pair.h(), table, &body, &handlers) == 0);
    return Handlers(handlers);
}

}  // namespace

TEST_CASE("dispatch: the newest handler of a topic answers, the older one again after it goes") {
    Pair pair;
    std::string seen;
    HandlerBody first = [&](const flux_msg_t*) { seen += "1"; };
    HandlerBody second = [&](const flux_msg_t*) { seen += "2"; };
    const auto a = add(pair, FLUX_MSGTYPE_REQUEST, "svc.ping", first);
    auto b = add(pair, FLUX_MSGTYPE_REQUEST, "svc.ping", second);
    pair.give_request("svc.ping");
    pair.run_pending();
    b.reset();
    pair.give_request("svc.ping");
    pair.run_pending();
    CHECK(seen == "21");
}

TEST_CASE("dispatch: an exact topic goes before a glob, the newest glob before older ones") {
    Pair pair;
    std::string seen;
    HandlerBody exact = [&](const flux_msg_t*) { seen += "e"; };
    HandlerBody old_glob = [&](const flux_msg_t*) { seen += "o"; };
    HandlerBody new_glob = [&](const flux_msg_t*) { seen += "n"; };
    const auto a = add(pair, FLUX_MSGTYPE_REQUEST, "svc.ping", exact);
    const auto b = add(pair, FLUX_MSGTYPE_REQUEST, "svc.*", old_glob);
    const auto c = add(pair, FLUX_MSGTYPE_REQUEST, "svc.p*", new_glob);
    for (const char* topic : {"svc.ping", "svc.put", "svc.get"}) {
        pair.give_request(topic);
    }
    pair.run_pending();
    CHECK(seen == "eno");
}

TEST_CASE("dispatch: an event goes to every handler it fits") {
    Pair pair;
    std::vector<std::string> seen;
    HandlerBody all = [&](const flux_msg_t* msg) { seen.push_back(std::string("all:") + msg->topic); };
    HandlerBody some = [&](const flux_msg_t* msg) { seen.push_back(std::string("some:") + msg->topic); };
    const auto a = add(pair, FLUX_MSGTYPE_EVENT, nullptr, all, FLUX_ROLE_ALL);
    const auto b = add(pair, FLUX_MSGTYPE_EVENT, "a.*", some, FLUX_ROLE_ALL);
    for (const char* topic : {"a.b", "b.a"}) {
        const auto event = make_event(topic, nullptr);
        event->rolemask = FLUX_ROLE_OWNER;
        pair.give(*event);
    }
    pair.run_pending();
    CHECK(seen == std::vector<std::string>{"some:a.b", "all:a.b", "all:b.a"});
}

TEST_CASE("dispatch: roles") {
    Pair pair;
    int seen = 0;
    HandlerBody body = [&](const flux_msg_t*) { ++seen; };
    const auto owner_only = add(pair, FLUX_MSGTYPE_REQUEST, "svc.owner", body);
    const auto for_users = add(pair, FLUX_MSGTYPE_REQUEST, "svc.user", body, FLUX_ROLE_USER);
    const auto try_as = [&](const char* topic, uint32_t role) {
        pair.give(*pair.request(topic, nullptr, 7, role));
        pair.run_pending();
    };
    try_as("svc.user", FLUX_ROLE_USER);
    try_as("svc.user", FLUX_ROLE_OWNER);
    CHECK(seen == 2);
    try_as("svc.owner", FLUX_ROLE_USER | FLUX_ROLE_LOCAL);
    auto refusal = pair.sent();
    CHECK(refusal->errnum() == EPERM);
    CHECK(refusal->payload_text() == std::string("Request requires owner credentials"));
    try_as("svc.user", FLUX_ROLE_LOCAL);
    refusal = pair.sent();
    CHECK(refusal->errnum() == EPERM);
    CHECK(refusal->payload_text() == std::string("Request rejected due to insufficient privilege"));
    CHECK(seen == 2);
}

TEST_CASE("dispatch: an unknown method is ENOSYS, unless no response is wanted") {
    Pair pair;
    HandlerBody body = [](const flux_msg_t*) {};
    const auto a = add(pair, FLUX_MSGTYPE_REQUEST, "svc.ping", body);
    const auto silent = pair.request("svc.nosuch", nullptr, 0);
    silent->flags |= FLUX_MSGFLAG_NORESPONSE;
    pair.give(*silent);
    pair.give_request("svc.nosuch");
    pair.run_pending();
    const auto refusal = pair.sent();
    CHECK(refusal->errnum() == ENOSYS);
    CHECK(refusal->payload_text() == std::string("Unknown service method 'svc.nosuch'"));
    CHECK(refusal->routes == std::vector<std::string>{"client"});
    CHECK(refusal->matchtag() == 7);
    CHECK(pair.sent_nothing());
}

TEST_CASE("dispatch: a handler may remove itself and others") {
    Pair pair;
    std::vector<Handlers> all;
    int seen = 0;
    HandlerBody body = [&](const flux_msg_t*) {
        ++seen;
        all.clear();
    };
    for (const char* topic : {"svc.a*", "svc.*", "svc.ab"}) {
        all.push_back(add(pair, FLUX_MSGTYPE_REQUEST, topic, body));
        all.push_back(add(pair, FLUX_MSGTYPE_EVENT, topic, body, FLUX_ROLE_ALL));
    }
    const auto event = make_event("svc.ab", nullptr);
    event->rolemask = FLUX_ROLE_OWNER;
    pair.give(*event);
    pair.give_request("svc.ab");
    CHECK(pair.run() == 0);  // nobody listens any more
    CHECK(seen == 1);
}

TEST_CASE("dispatch: the service name is put before every topic") {
    Pair pair;
    int seen = 0;
    HandlerBody body = [&](const flux_msg_t*) { ++seen; };
    const flux_msg_handler_spec table[] = {{FLUX_MSGTYPE_REQUEST, "ping", run_handler_body, 0},
                                           FLUX_MSGHANDLER_TABLE_END};
    flux_msg_handler_t** handlers = nullptr;
    REQUIRE(flux_msg_handler_addvec_ex(pair.h(), "svc", table, &body, &handlers) == 0);
    const Handlers owned(handlers);
    pair.give_request("svc.ping");
    pair.run_pending();
    CHECK(seen == 1);
}

TEST_CASE("dispatch: handlers may outlive the handle, and a callback may close it") {
    Pair pair;
    int seen = 0;
    HandlerBody body = [&](const flux_msg_t*) {
        ++seen;
        pair.close();
    };
    const auto a = add(pair, FLUX_MSGTYPE_REQUEST, "svc.*", body);
    flux_reactor_t* r = pair.reactor();
    const Watcher keep(flux_prepare_watcher_create(r, nullptr, nullptr));  // holds the reactor
    pair.give_request("svc.a");
    pair.give_request("svc.b");
    CHECK(flux_reactor_run(r, 0) == 0);
    CHECK(seen == 1);
}

TEST_CASE("dispatch: more than a turn's worth of messages arrive in order") {
    Pair pair;
    int next = 0;
    bool in_order = true;
    HandlerBody body = [&](const flux_msg_t* msg) {
        int n = -1;
        in_order = in_order && flux_request_unpack(msg, nullptr, "{s:i}", "n", &n) == 0 && n == next;
        if (++next == 500) {
            flux_reactor_stop(pair.reactor());
        }
    };
    const auto a = add(pair, FLUX_MSGTYPE_REQUEST, "svc.count", body);
    for (int i = 0; i < 500; ++i) {
        pair.give_request("svc.count", ("{\"n\":" + std::to_string(i) + "}").c_str());
    }
    CHECK(pair.run() >= 0);
    CHECK(in_order);
    CHECK(next == 500);
}
