// SPDX-License-Identifier: LGPL-3.0-only
// A signal to a routed job: to the child that runs its copy, and there to the copy.
#include <catch2/catch.hpp>

#include "modules/job-route/child_link.hpp"
#include "modules/job-route/messages_json.hpp"
#include "t/unit/job_route/route_scene.hpp"
#include "t/unit/job_route/written_orders.hpp"

using namespace weir::route;
using namespace weir::route::test;

namespace {

constexpr int usr1 = 10;
constexpr LocalId copy{5};

Order a_signal() {
    Order order;
    order.kind = Order::Kind::signal;
    order.id = job;
    order.type = "cancel";
    order.signum = usr1;
    return order;
}

/// One attached child, whose only job is allocated.
RouteTable that_runs(bool does_child_take_signals) {
    RouteTable table = with_a_job();
    Attach again = an_attach(host, "t");
    again.takes_signals = does_child_take_signals;
    again.known = {{job, false, 16, false}};
    REQUIRE(table.attach(again, {0, true}));
    record_alloc(table);
    (void)table.take();
    return table;
}

std::vector<Order> sent_after_signal(RouteTable& table, JobId id = job) {
    table.signal(id, usr1);
    std::vector<Order> orders;
    for (auto& [child, order] : table.take().orders) {
        CHECK(child == host);
        orders.push_back(std::move(order));
    }
    return orders;
}

}  // namespace

TEST_CASE("signal: to the child that has the job's cores, and to no other") {
    RouteTable table = that_runs(true);
    const auto orders = sent_after_signal(table);
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].kind == Order::Kind::signal);
    CHECK(orders[0].id == job);
    CHECK(orders[0].signum == usr1);
    CHECK(sent_after_signal(table, host).empty());        // runs here
    CHECK(sent_after_signal(table, JobId{999}).empty());  // unknown
    table.event(job, an_event(Kind::exception));          // its processes may outlive that
    (void)table.take();
    CHECK(sent_after_signal(table).size() == 1);
    table.detach(host, "t");
    CHECK(sent_after_signal(table).empty());
}

TEST_CASE("signal: none to a job that waits in its child") {
    RouteTable table = with_a_job();
    Attach again = an_attach(host, "t");
    again.takes_signals = true;
    again.known = {{job, false, 16, false}};
    REQUIRE(table.attach(again, {0, true}));
    (void)table.take();
    CHECK(sent_after_signal(table).empty());
}

// Kills: a child of an older version ends its session over an order that it does not know.
TEST_CASE("signal: none to a child that does not know the order") {
    RouteTable table = that_runs(false);
    CHECK(sent_after_signal(table).empty());
}

TEST_CASE("signal: the child passes it on as often as it comes, while its copy has cores") {
    ChildLink link;
    link.synced();
    link.attached();
    link.order(a_signal());
    Order submit;
    submit.id = job;
    link.order(submit);
    link.order(a_signal());
    link.submit_done(job, copy);
    link.order(a_signal());
    CHECK(link.take().ops.empty());
    link.event(copy, an_event(Kind::alloc));
    link.order(a_signal());
    link.order(a_signal());
    const auto ops = link.take().ops;
    REQUIRE(ops.size() == 2);
    CHECK(ops[0].kind == LocalOp::Kind::signal);
    CHECK(ops[0].job == copy);
    CHECK(ops[0].signum == usr1);
    link.event(copy, an_event(Kind::finish));
    link.event(copy, an_event(Kind::clean));
    link.order(a_signal());
    CHECK(link.take().ops.empty());
}

TEST_CASE("signal: the order survives the way; one without a signal's number is refused") {
    const std::vector<Order> orders{a_signal()};
    const auto decoded = test::sent_and_read(orders);
    REQUIRE(decoded);
    CHECK(*decoded == orders);
    for (const int wrong : {0, -1, 65, 1 << 20}) {
        Order order = a_signal();
        order.signum = wrong;
        CHECK(test::sent_and_read({order}).error().message == "orders[0]: signal needs a signum from 1 to 64");
    }
    weir::FlatJson reader;
    CHECK(decode_orders(reader.read(R"({"orders":[{"op":"signal","id":1,"signum":"USR1"}]})")).error().message ==
          "orders[0]: signum must be an integer");
}

TEST_CASE("signal: an attach says that the child knows the order, and an older one's does not") {
    Attach attach = an_attach(host);
    CHECK_FALSE(decode_attach(encode(attach).get())->takes_signals);
    attach.takes_signals = true;
    CHECK(decode_attach(encode(attach).get())->takes_signals);
    const auto older = weir::Json::parse(R"({"jobid":1,"session":"s","serves":["batch"],"known":[]})");
    const auto decoded = decode_attach(older->get());
    REQUIRE(decoded);
    CHECK_FALSE(decoded->takes_signals);
}
