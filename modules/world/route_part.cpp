// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a simulated job-route's journal, its loop, and its role as a parent. See route_part.hpp; the child's role is in
// route_child.cpp.
#include "modules/world/route_part.hpp"

#include "modules/job-route/messages_json.hpp"
#include "modules/world/manager.hpp"
#include "modules/world/submissions.hpp"

namespace weir::world {

using namespace std::chrono_literals;

namespace {

constexpr Duration tick_interval = 1s;
constexpr std::int64_t patience = 30;  ///< ticks

}  // namespace

RoutePart::RoutePart(Process& process, Facts facts, Peers peers)
    : Part(process),
      facts_(std::move(facts)),
      peers_(std::move(peers)),
      table_(facts_.host != 0, patience, route::HandDown::depth_default, owner) {}

void RoutePart::start() {
    peers_.to_manager([](Manager& manager) { manager.open_journal_of_route(route::journal_filter()); });
}

void RoutePart::on_journal(const std::string& payload) {
    FlatJson reader;
    const auto entry = route::decode_journal(reader.read(payload));
    if (!entry) {
        ground().fail(process().name, "job-route cannot read the journal: " + entry.error().message);
        return;
    }
    if (entry->is_end_of_backlog) {
        table_.synced();
        link_.synced();
        is_ready_ = true;
        if (is_child()) {
            connect();
        }
        pump();
        return;
    }
    for (const route::JournalEvent& event : entry->events) {
        if (event.kind == route::JournalEvent::Kind::submit) {
            route::JobFacts facts = entry->facts;
            if (!is_child() || event.userid != owner) {
                facts.upstream = 0;
            }
            table_.submitted(route::JobId{entry->id}, event, facts);
            allocs_.submitted(route::JobId{entry->id});
            if (facts.upstream != 0) {
                link_.submitted(route::LocalId{entry->id}, event, facts);
            }
        } else {
            if (event.kind == route::JournalEvent::Kind::route) {
                allocs_.handed_down(route::JobId{entry->id}, ground().now());
            }
            table_.event(route::JobId{entry->id}, event);
            link_.event(route::LocalId{entry->id}, event);
        }
    }
    pump();
}

/// Carries out what the two sides want, until neither wants more.
void RoutePart::pump() {
    if (std::exchange(is_pumping_, true)) {
        return;
    }
    for (bool is_more = true; is_more;) {
        take_partitions();
        route::ParentActions up = table_.take();
        route::ChildActions down = link_.take();
        is_more = !up.tap.empty() || !up.fetch.empty() || !up.silent.empty() || !up.orders.empty() ||
                  !down.priorities.empty() || !down.submits.empty() || !down.ops.empty();
        perform(std::move(up));
        perform(std::move(down));
    }
    is_pumping_ = false;
    if (is_child()) {
        if (!is_complete_told_ && link_.is_complete()) {
            is_complete_told_ = true;
            send_priorities({}, false);
        }
        send_report();
        if (link_.is_attached() && uplink_ != nullptr && told_cores_ != table_.own_cores(facts_.serves)) {
            send_beat();
        }
    }
    if (table_.needs_ticks() && !std::exchange(is_ticking_, true)) {
        later(tick_interval, [this] { tick(); });
    }
}

void RoutePart::take_partitions() {
    const std::uint64_t version = peers_.partitions_version();
    if (std::exchange(partitions_version_, version) != version) {
        (void)table_.set_partitions(peers_.partitions());
    }
}

void RoutePart::tick() {
    is_ticking_ = false;
    table_.tick();
    pump();
}

// ---- the parent's role ----

void RoutePart::set_drained(route::JobId child, bool is_drained) {
    later(Duration(50us), [this, child, is_drained] {
        table_.set_drained(child, is_drained);
        pump();
    });
}

void RoutePart::perform(route::ParentActions actions) {
    next_.ops.insert(next_.ops.end(), actions.tap.begin(), actions.tap.end());
    for (const route::JobId child : actions.silent) {
        close(child);
    }
    for (const route::JobId id : actions.fetch) {
        fetch(id);
    }
    send_orders(std::move(actions.orders));
    start_batch();
}

void RoutePart::start_batch() {
    if (is_batch_out_ || next_.ops.empty()) {
        return;
    }
    is_batch_out_ = true;
    current_ = std::exchange(next_, {});
    auto entries = std::make_shared<std::vector<Json>>();
    for (const route::TapOp& op : current_.ops) {
        Json R;
        if (op.kind == route::TapOp::Kind::alloc) {
            R = std::move(*Json::parse(op.R));
        }
        entries->push_back(route::encode(op, R));
    }
    peers_.to_manager([this, entries](Manager& manager) {
        manager.update_routes(*entries, [this](const std::vector<std::pair<std::uint64_t, std::string>>& failed) {
            later(Duration(50us), [this, failed] { end_batch(failed); });
        });
    });
}

/// The journal's events that the batch caused are here before.
void RoutePart::end_batch(const std::vector<std::pair<std::uint64_t, std::string>>& failed) {
    for (const auto& [id, op] : failed) {
        table_.tap_failed(route::JobId{id}, op == "give" ? route::TapOp::Kind::give : route::TapOp::Kind::clean);
    }
    is_batch_out_ = false;
    for (const Task& reply : std::exchange(current_, {}).replies) {
        reply();
    }
    pump();
    start_batch();
}

void RoutePart::fetch(route::JobId id) {
    fetches_ += 1;
    peers_.to_manager([this, id](Manager& manager) {
        const jm::Job* job = manager.jobs().find(id.value);
        later(Duration(100us), [this, id, text = job != nullptr ? jm::full_jobspec(job->jobspec_text) : std::string()] {
            fetches_ -= 1;
            if (text.empty()) {
                table_.fetch_failed(id, "no such job");
            } else {
                table_.jobspec_ready(id, text);
            }
            pump();
        });
    });
}

void RoutePart::on_attach(route::Attach attach, const route::Caller& caller, RouteChild& child,
                          const std::shared_ptr<Link>& link) {
    auto resources = route::ResourceMap::make(attach.resources, table_.R_of(attach.child));
    take_partitions();
    attach.node_cores = resources ? resources->node_cores() : 0;
    if (!resources || !table_.attach(attach, caller)) {
        link->close();
        pump();
        return;
    }
    close(attach.child);
    link->down([&child] { child.on_attached(); });
    sessions_.insert_or_assign(attach.child, Session{attach.session, link, &child, std::move(*resources)});
    pump();
}

void RoutePart::on_report(const route::Report& report, RouteChild& child, const std::shared_ptr<Link>& link) {
    const auto session = sessions_.find(report.child);
    if (session == sessions_.end()) {
        link->close();
        return;
    }
    const bool is_beat = report.events.empty();
    allocs_.before(table_, report, ground().now());
    const auto seq = table_.report(
        report, [&resources = session->second.resources](const std::string& R) { return resources.map(R); });
    if (!seq) {
        link->close();
        pump();
        return;
    }
    route::ParentActions actions = table_.take();
    if (const auto wrong = allocs_.after(table_, actions)) {
        ground().fail(process().name, *wrong);
    }
    const Task reply = [link, &child, is_beat, acked = *seq] {
        if (!is_beat) {
            link->down([&child, acked] { child.on_acked(acked); });
        }
    };
    const bool is_news = !actions.tap.empty();
    next_.ops.insert(next_.ops.end(), actions.tap.begin(), actions.tap.end());
    actions.tap.clear();
    if (is_news) {
        next_.replies.push_back(reply);
    } else {
        reply();
    }
    perform(std::move(actions));
    pump();
}

void RoutePart::on_disconnect(route::JobId child, const std::string& session) {
    const auto found = sessions_.find(child);
    if (found != sessions_.end() && found->second.name == session) {
        sessions_.erase(found);
    }
    table_.detach(child, session);
    pump();
}

void RoutePart::close(route::JobId child) {
    if (auto session = sessions_.extract(child)) {
        session.mapped().link->close();
    }
}

void RoutePart::send_orders(std::vector<std::pair<route::JobId, route::Order>> orders) {
    std::map<route::JobId, std::vector<route::Order>> by_child;
    for (auto& [child, order] : orders) {
        by_child[child].push_back(std::move(order));
    }
    for (auto& [id, list] : by_child) {
        if (const auto session = sessions_.find(id); session != sessions_.end()) {
            session->second.link->down(
                [child = session->second.child, list = std::move(list)] { child->on_orders(list); });
        }
    }
}

bool RoutePart::is_quiet() const {
    return is_ready_ && !is_batch_out_ && next_.ops.empty() && fetches_ == 0 && requests_ == 0 &&
           (!is_child() || (link_.is_attached() && link_.unacked() == 0));
}

}  // namespace weir::world
