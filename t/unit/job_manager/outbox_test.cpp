// SPDX-License-Identifier: LGPL-3.0-only
// The messages of the manager: what waits for a sync is sent once, and before what came later.
#include <string>

#include "broker/services/job-manager/engine/rpc.hpp"
#include "t/unit/broker_api/echo_peer.hpp"

using namespace weir::broker;
using namespace weir::broker::jobs;

namespace {

std::string next_text(test::Pair& pair) {
    const auto message = pair.sent();
    const char* text = message->payload_text();
    return text != nullptr ? text : "";
}

}  // namespace

// Mutant: broker/services/job-manager/engine/rpc.cpp: held_.insert(held_.end(), => held_.assign(
TEST_CASE("outbox: what a sync that failed left behind is sent with what waits for the next") {
    test::Pair pair;
    Outbox outbox(pair.h());
    const auto request = pair.request("job-manager.memo");
    (void)outbox.respond(request.get(), "first");
    outbox.hold();
    (void)outbox.respond(request.get(), "second");
    outbox.hold();
    (void)outbox.respond(request.get(), "third");
    CHECK(pair.sent_nothing());
    outbox.send_held();
    CHECK(next_text(pair) == "first");
    CHECK(next_text(pair) == "second");
    CHECK(pair.sent_nothing());
    outbox.send_all();
    CHECK(next_text(pair) == "third");
    CHECK(pair.sent_nothing());
    CHECK(outbox.empty());
}
