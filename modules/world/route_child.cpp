// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a simulated job-route's role as a child, as in child_role.cpp. See route_part.hpp.
#include "modules/job-route/jobspec_edit.hpp"
#include "modules/job-route/messages_json.hpp"
#include "modules/world/manager.hpp"
#include "modules/world/route_part.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

constexpr Duration heartbeat = 10s;
constexpr std::size_t report_max = 256;

}  // namespace

// ---- the session ----

void RoutePart::connect() {
    if (uplink_ != nullptr) {
        return;
    }
    RoutePart* parent = peers_.parent();
    if (parent == nullptr) {
        later(ground().random.between(Duration(200ms), Duration(3s)), [this] { connect(); });
        return;
    }
    session_ = std::to_string(micros(ground().now())) + "." + std::to_string(++session_count_);
    const route::JobId host{facts_.host};
    uplink_ = Link::open(
        *this, *parent, [this] { on_lost(); },
        [parent, host, session = session_] { parent->on_disconnect(host, session); });
    attach();
}

void RoutePart::attach() {
    route::Attach attach;
    attach.child = route::JobId{facts_.host};
    attach.session = session_;
    attach.known = link_.known();
    attach.resources = facts_.resources;
    attach.cores = facts_.cores;
    attach.own_jobs = table_.own_jobs();
    attach.own_cores = told_cores_ = table_.own_cores(facts_.serves);
    RoutePart* parent = peers_.parent();
    uplink_->up([this, parent, attach, link = uplink_] { parent->on_attach(attach, {owner, true}, *this, link); });
}

void RoutePart::on_lost() {
    uplink_.reset();
    is_report_out_ = false;
    link_.lost();
    later(ground().random.between(Duration(100ms), Duration(3s)), [this] { connect(); });
}

void RoutePart::on_attached() {
    link_.attached();
    beat();
    pump();
}

void RoutePart::on_acked(std::uint64_t seq) {
    is_report_out_ = false;
    link_.acked(seq);
    pump();
}

void RoutePart::on_orders(const std::vector<route::Order>& orders) {
    for (const route::Order& order : orders) {
        link_.order(order);
    }
    pump();
}

void RoutePart::send_report() {
    if (uplink_ == nullptr || is_report_out_) {
        return;
    }
    route::Report report;
    report.events = link_.next_report(report_max);
    if (report.events.empty()) {
        return;
    }
    report.child = route::JobId{facts_.host};
    report.session = session_;
    report.own_jobs = table_.own_jobs();
    report.own_cores = told_cores_ = table_.own_cores(facts_.serves);
    for (route::ChildEvent& event : report.events) {
        if (event.kind == route::ChildEvent::Kind::allocated && !garbled_.empty()) {
            note("it reports a wrong R of job " + std::to_string(event.id.value));
            event.R = std::exchange(garbled_, {});
        }
    }
    is_report_out_ = true;
    RoutePart* parent = peers_.parent();
    uplink_->up([this, parent, report = std::move(report), link = uplink_] { parent->on_report(report, *this, link); });
}

/// A report without events.
void RoutePart::send_beat() {
    route::Report report;
    report.child = route::JobId{facts_.host};
    report.session = session_;
    report.own_jobs = table_.own_jobs();
    report.own_cores = told_cores_ = table_.own_cores(facts_.serves);
    RoutePart* parent = peers_.parent();
    uplink_->up([this, parent, report, link = uplink_] { parent->on_report(report, *this, link); });
}

void RoutePart::beat() {
    later(heartbeat, [this, session = session_] {
        if (uplink_ != nullptr && session == session_) {
            send_beat();
            beat();
        }
    });
}

// ---- the parent's order, for job-priority of this instance ----

void RoutePart::open_priorities() {
    is_listened_ = true;
    send_priorities(link_.priorities(), true);
}

void RoutePart::send_priorities(const std::vector<route::GivenPriority>& rows, bool is_all) {
    if (!is_listened_) {
        return;
    }
    std::vector<priority::GivenPriority> given;
    for (const route::GivenPriority& row : rows) {
        given.emplace_back(row.id.value, row.value);
    }
    peers_.given(given, is_all, is_complete_told_);
}

// ---- jobs here ----

void RoutePart::perform(route::ChildActions actions) {
    if (!actions.priorities.empty()) {
        send_priorities(actions.priorities, false);
    }
    for (const route::Order& order : actions.submits) {
        submit(order);
    }
    for (const route::LocalOp& op : actions.ops) {
        steer(op);
    }
}

void RoutePart::submit(const route::Order& order) {
    const auto jobspec = route::localize(order, facts_.own_queues);
    if (!jobspec) {
        link_.submit_failed(order.id, jobspec.error().message, false);
        return;
    }
    requests_ += 1;
    peers_.to_manager([this, id = order.id, urgency = order.urgency, text = *jobspec](Manager& manager) {
        manager.submit(text, owner, urgency, [this, id](const Result<jm::JobId>& answer) {
            later(Duration(50us), [this, id, answer] {
                requests_ -= 1;
                if (answer) {
                    link_.submit_done(id, route::LocalId{*answer});
                } else {
                    link_.submit_failed(id, answer.error().message, answer.error().code != std::errc::invalid_argument);
                }
                pump();
            });
        });
    });
}

void RoutePart::steer(const route::LocalOp& op) {
    if (op.kind == route::LocalOp::Kind::go) {
        const route::JobId id{op.job.value};
        table_.allow_go(id);
        if (table_.is_routed(id)) {
            return;  // further down
        }
    }
    peers_.to_manager([op](Manager& manager) {
        switch (op.kind) {
            case route::LocalOp::Kind::raise:
                manager.raise(op.job.value, op.type, op.note);
                break;
            case route::LocalOp::Kind::urgency:
                manager.set_urgency(op.job.value, op.urgency);
                break;
            case route::LocalOp::Kind::signal:  // no user of the world sends any
                break;
            case route::LocalOp::Kind::go: {
                std::vector<Json> ops;
                ops.push_back(std::move(Json::object().set("id", op.job.value).set("op", "go")));
                manager.update_routes(ops, [](const auto&) {});
                break;
            }
        }
    });
}

}  // namespace weir::world
