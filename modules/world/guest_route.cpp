// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what such a guest says. See guest_route.hpp.
#include "modules/world/guest_route.hpp"

#include <utility>

namespace weir::world {

using namespace std::chrono_literals;
using Kind = route::ChildEvent::Kind;

namespace {

constexpr Kind in_order[] = {Kind::accepted, Kind::allocated, Kind::started, Kind::finished, Kind::cleaned};

std::string some_R(Random& random) {
    static const std::vector<std::string> texts{
        "{",
        R"({"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "nodelist": ["a"]}})",
        R"({"version": 1, "execution": {"R_lite": [{"rank": "0-7", "children": {"core": "0-63"}}], "nodelist": ["a"]}})"};
    return random.of(texts);
}

}  // namespace

GuestRoute::GuestRoute(RoutePart& parent, Facts facts, std::function<void(const std::string&)> got)
    : Part(parent.process()), parent_(parent), facts_(std::move(facts)), got_(std::move(got)) {}

void GuestRoute::attach(const std::vector<route::JobId>& known) {
    session_ = "guest-" + std::to_string(micros(ground().now()));
    const route::JobId host{facts_.host};
    link_ = Link::open(
        *this, parent_, [this] { link_.reset(); },
        [&parent = parent_, host, session = session_] { parent.on_disconnect(host, session); });
    route::Attach attach;
    attach.child = host;
    attach.session = session_;
    attach.serves = facts_.serves;
    attach.cores = facts_.cores;
    for (const route::JobId id : known) {
        attach.known.push_back({id, ground().random.one_in(2), static_cast<int>(ground().random.below(32)), false});
    }
    link_->up([this, &parent = parent_, attach, link = link_, caller = route::Caller{facts_.userid, false}] {
        parent.on_attach(attach, caller, *this, link);
    });
    for (const route::JobId id : known) {
        lie_about(id);
    }
}

void GuestRoute::on_orders(const std::vector<route::Order>& orders) {
    for (const route::Order& order : orders) {
        if (order.kind == route::Order::Kind::submit) {
            got_(order.jobspec);
        }
        lie_about(order.id);
    }
}

/// Nothing at all, or how a job runs that he never ran, as far as he likes, with parts left out.
void GuestRoute::lie_about(route::JobId id) {
    Random& random = ground().random;
    if (random.one_in(3)) {
        return;
    }
    Duration delay{};
    for (const Kind kind : in_order) {
        delay += random.between(Duration(1ms), Duration(2s));
        route::ChildEvent event;
        event.id = id;
        event.kind = random.one_in(8) ? Kind::exception : random.one_in(8) ? Kind::returned : kind;
        event.local = route::LocalId{random.below(8)};
        event.R = kind == Kind::allocated ? some_R(random) : "";
        event.status = random.one_in(2) ? 0 : static_cast<int>(random.below(65536));
        event.type = "cancel";
        event.severity = static_cast<int>(random.below(2));
        if (!random.one_in(8)) {
            later(delay, [this, event] { report(event); });
        }
    }
}

void GuestRoute::report(route::ChildEvent event) {
    if (link_ == nullptr) {
        return;
    }
    Random& random = ground().random;
    event.seq = random.one_in(16) ? random.below(100) : ++seq_;
    route::Report report;
    report.child = route::JobId{facts_.host};
    report.session = session_;
    report.events = {std::move(event)};
    report.own_jobs = static_cast<std::int64_t>(random.below(5));
    report.own_cores = static_cast<std::int64_t>(random.below(1000));
    link_->up([this, &parent = parent_, report, link = link_] { parent.on_report(report, *this, link); });
}

}  // namespace weir::world
