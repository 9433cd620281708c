// SPDX-License-Identifier: LGPL-3.0-only
// The list a streaming service keeps: cursor, disconnect and cancel.
#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using weir::broker::test::Pair;

namespace {
MessagePtr from(const char* client, uint32_t tag, uint32_t userid = 10) {
    auto msg = make_request("svc.watch", nullptr);
    msg->flags |= FLUX_MSGFLAG_STREAMING;
    msg->push_route(client);
    msg->aux2 = tag;
    msg->userid = userid;
    return msg;
}
struct Destroy {
    void operator()(flux_msglist* l) const { flux_msglist_destroy(l); }
};
using List = std::unique_ptr<flux_msglist, Destroy>;
}  // namespace

TEST_CASE("message list: deleting while iterating forwards misses nothing") {
    const List l(flux_msglist_create());
    for (uint32_t tag = 1; tag <= 4; ++tag) {
        REQUIRE(flux_msglist_append(l.get(), from("a", tag).get()) == 0);
    }
    int seen = 0;
    for (auto* msg = flux_msglist_first(l.get()); msg != nullptr; msg = flux_msglist_next(l.get())) {
        ++seen;
        if (msg->matchtag() != 3) {
            flux_msglist_delete(l.get());
        }
    }
    CHECK(seen == 4);
    CHECK(flux_msglist_count(l.get()) == 1);
    const flux_msg_t* left = flux_msglist_pop(l.get());
    REQUIRE(left != nullptr);
    CHECK(left->matchtag() == 3);
    flux_msg_decref(left);
    CHECK(flux_msglist_pop(l.get()) == nullptr);
}

TEST_CASE("message list: a disconnect removes the sender's requests, if it may") {
    const List l(flux_msglist_create());
    flux_msglist_append(l.get(), from("a", 1).get());
    flux_msglist_append(l.get(), from("b", 2).get());
    flux_msglist_append(l.get(), from("a", 3).get());
    auto disconnect = from("a", 0, 11);
    disconnect->rolemask = FLUX_ROLE_USER;
    CHECK(flux_msglist_disconnect(l.get(), disconnect.get()) == 0);
    disconnect->userid = 10;
    CHECK(flux_msglist_disconnect(l.get(), disconnect.get()) == 2);
    CHECK(flux_msglist_count(l.get()) == 1);
}

TEST_CASE("message list: a cancel ends one request with ENODATA") {
    Pair pair;
    const List l(flux_msglist_create());
    flux_msglist_append(l.get(), from("a", 0x80000001).get());
    flux_msglist_append(l.get(), from("a", 2).get());
    auto cancel = from("a", 0);
    cancel->rolemask = FLUX_ROLE_OWNER;
    cancel->set_payload_text("{\"matchtag\":2147483649}");
    CHECK(flux_msglist_cancel(pair.h(), l.get(), cancel.get()) == 1);
    CHECK(flux_msglist_count(l.get()) == 1);
    const auto end = pair.sent();
    CHECK(end->errnum() == ENODATA);
    CHECK(end->matchtag() == 0x80000001);
    CHECK(flux_msglist_cancel(pair.h(), l.get(), cancel.get()) == 0);
}
