// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RouteSide. See route_side.hpp.
#include "t/bench/scale/route_side.hpp"

#include <algorithm>
#include <limits>

#include "libfairshare/base/check.hpp"
#include "modules/job-route/messages_json.hpp"

namespace weir::scale {
namespace {

using route::JobId;
using route::JournalEvent;
using route::LocalId;
using route::LocalOp;
using route::Order;
using route::TapOp;

constexpr const char* session = "1";  ///< no link is ever lost
constexpr std::size_t events_of_report = 256;
constexpr const char* queue = "batch";

/// As `weir submit -n CORES --account ACCOUNT hostname` makes it.
std::string jobspec_of(std::int64_t cores, const std::string& account) {
    return R"({"version":1,"resources":[{"type":"slot","count":)" + std::to_string(cores) +
           R"(,"label":"task","with":[{"type":"core","count":1}]}],)"
           R"("tasks":[{"command":["hostname"],"slot":"task","count":{"per_slot":1}}],"attributes":{"system":)"
           R"({"duration":0,"cwd":"/home/user","queue":")" +
           queue + R"(","bank":")" + account + R"(","shell":{"options":{"rlimit":{}}}}}})";
}

std::string R_of(std::int64_t cores) {
    const std::string ids = cores == 1 ? "0" : "0-" + std::to_string(cores - 1);
    return R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":")" + ids +
           R"("}}],"nodelist":["node0"],"starttime":0,"expiration":0}})";
}

}  // namespace

RouteSide::RouteSide(bool has_parent, JobId host, std::function<LocalId()> next_id)
    : has_parent_(has_parent),
      host_(host),
      next_id_(std::move(next_id)),
      table_(has_parent, std::numeric_limits<std::int64_t>::max()) {
    table_.synced();
    link_.synced();
    link_.attached();
}

void RouteSide::add_child(JobId host, std::int64_t cores) {
    is_leaf_ = false;
    route::JobFacts facts;
    facts.serves = {queue};
    facts.cores = cores;
    table_.submitted(host, {}, facts);
    for (const auto kind : {JournalEvent::Kind::priority, JournalEvent::Kind::alloc, JournalEvent::Kind::start}) {
        JournalEvent event;
        event.kind = kind;
        event.cores = cores;
        record(LocalId{host.value}, event);
    }
    route::Attach attach;
    attach.child = host;
    attach.session = session;
    attach.serves = facts.serves;
    attach.cores = cores;
    WEIR_CHECK(table_.attach(attach, {0, true}).has_value());
    (void)table_.take();  // `complete`: it has no jobs
}

// ---- what is recorded here ----

void RouteSide::record(LocalId id, const JournalEvent& event) {
    table_.event(JobId{id.value}, event);
    link_.event(id, event);
}

void RouteSide::record(LocalId id, JournalEvent::Kind kind, const std::string& type) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    record(id, event);
}

void RouteSide::record_alloc(LocalId id, std::int64_t cores, std::uint64_t child, std::string R) {
    JournalEvent event;
    event.kind = JournalEvent::Kind::alloc;
    event.cores = cores;
    event.child = child;
    event.R = std::move(R);
    record(id, event);
    RoutedNews news;
    news.kind = RoutedNews::Kind::allocated;
    news.id = id;
    news.cores = cores;
    news_.push_back(news);
}

void RouteSide::forget(LocalId id) {
    RoutedNews news;
    news.kind = RoutedNews::Kind::ended;
    news.id = id;
    news_.push_back(news);
    jobs_.erase(id);
}

/// \param order  as the parent would send it; of a job that was submitted here its `id` is 0
void RouteSide::add(LocalId id, Order order) {
    route::JobFacts facts = route::decode_facts(reader_.read(order.jobspec));
    facts.upstream = order.id.value;
    facts.upstream_userid = order.userid;
    facts.upstream_submit = order.submit;
    if (!is_leaf_) {
        JournalEvent submit;
        submit.userid = order.userid;
        submit.at = order.submit;
        table_.submitted(JobId{id.value}, submit, facts);
        record(id, JournalEvent::Kind::bypass);
    }
    news_.push_back({RoutedNews::Kind::submitted, id, order.id, order.userid, facts.cores, order.submit});
    jobs_.emplace(id, Job{is_leaf_ ? std::string() : std::move(order.jobspec), facts.cores, false});
}

void RouteSide::submit(std::uint32_t userid, std::int64_t cores, const std::string& account, Instant now) {
    Order order;
    order.jobspec = jobspec_of(cores, account);
    order.userid = userid;
    order.submit = now;
    add(next_id_(), std::move(order));
}

void RouteSide::set_priority(LocalId id, std::int64_t priority) {
    JournalEvent event;
    event.kind = JournalEvent::Kind::priority;
    event.priority = priority;
    record(id, event);
    if (is_leaf_ && !jobs_.at(id).has_cores && std::find(waiting_.begin(), waiting_.end(), id) == waiting_.end()) {
        waiting_.push_back(id);
    }
}

/// What the plugin does.
void RouteSide::apply(TapOp op) {
    const LocalId id{op.id.value};
    JournalEvent event;
    switch (op.kind) {
        case TapOp::Kind::give:
            event.kind = JournalEvent::Kind::route;
            event.child = op.child.value;
            record(id, event);
            return;
        case TapOp::Kind::alloc:
            record_alloc(id, jobs_.at(id).cores, op.child.value, std::move(op.R));
            return;
        case TapOp::Kind::start:
            record(id, JournalEvent::Kind::start);
            return;
        case TapOp::Kind::finish:
            record(id, JournalEvent::Kind::finish);
            return;
        case TapOp::Kind::clean:
            record(id, JournalEvent::Kind::prolog_finish, route::mirror_prolog);
            record(id, JournalEvent::Kind::clean);
            forget(id);
            return;
        case TapOp::Kind::exception:
            break;
    }
    WEIR_CHECK(op.kind != TapOp::Kind::exception);  // no job fails
}

// ---- messages ----

void RouteSide::take_orders(const std::string& text) {
    auto orders = route::decode_orders(reader_.read(text));
    WEIR_CHECK(orders.has_value());
    for (Order& order : *orders) {
        link_.order(std::move(order));
    }
}

std::uint64_t RouteSide::take_report(const std::string& text) {
    const auto report = route::decode_report(reader_.read(text));
    WEIR_CHECK(report.has_value());
    const auto seq = table_.report(*report);
    WEIR_CHECK(seq.has_value());
    return *seq;
}

// ---- a turn ----

std::vector<route::GivenPriority> RouteSide::begin_turn() {
    if (!has_parent_) {
        return {};
    }
    route::ChildActions actions = link_.take();
    for (Order& order : actions.submits) {
        accept(std::move(order));
    }
    for (const LocalOp& op : actions.ops) {
        perform(op);
    }
    return std::move(actions.priorities);
}

RouteSide::Turn RouteSide::end_turn() {
    Turn turn;
    if (is_leaf_) {
        start_next();
        turn.started = std::exchange(started_, {});
    } else {
        hand_down(turn);
    }
    if (has_parent_) {
        route::Report report;
        report.child = host_;
        report.session = session;
        report.events = link_.next_report(events_of_report);
        turn.report = report.events.empty() ? std::string() : route::text_of(report);
    }
    return turn;
}

void RouteSide::accept(Order order) {
    const LocalId id = next_id_();
    const JobId above = order.id;
    add(id, std::move(order));
    link_.submit_done(above, id);
}

void RouteSide::perform(const LocalOp& op) {
    if (op.kind == LocalOp::Kind::raise) {
        fail(op.job, op.type);
    } else if (op.kind == LocalOp::Kind::go && is_leaf_) {
        record(op.job, JournalEvent::Kind::start);
        started_.push_back(op.job);
    } else if (op.kind == LocalOp::Kind::go) {
        table_.allow_go(JobId{op.job.value});
    }
}

/// A copy is recalled.
void RouteSide::fail(LocalId id, const std::string& type) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) {
        return;
    }
    recalls_ += 1;
    record(id, JournalEvent::Kind::exception, type);
    if (is_leaf_) {
        free_ += job->second.has_cores ? job->second.cores : 0;
        std::erase(waiting_, id);
        record(id, JournalEvent::Kind::clean);
        forget(id);
    }
}

void RouteSide::start_next() {
    while (!waiting_.empty() && jobs_.at(waiting_.front()).cores <= free_) {
        const LocalId id = waiting_.front();
        waiting_.pop_front();
        Job& job = jobs_.at(id);
        job.has_cores = true;
        free_ -= job.cores;
        record_alloc(id, job.cores, 0, R_of(job.cores));
    }
}

void RouteSide::end(LocalId id) {
    free_ += jobs_.at(id).cores;
    record(id, JournalEvent::Kind::finish);
    record(id, JournalEvent::Kind::clean);
    forget(id);
}

void RouteSide::hand_down(Turn& turn) {
    std::map<JobId, route::OrdersText> orders;
    while (true) {
        route::ParentActions actions = table_.take();
        if (actions.tap.empty() && actions.fetch.empty() && actions.orders.empty()) {
            break;
        }
        for (TapOp& op : actions.tap) {
            apply(std::move(op));
        }
        for (const JobId id : actions.fetch) {
            table_.jobspec_ready(id, jobs_.at(LocalId{id.value}).jobspec);
        }
        for (const auto& [child, order] : actions.orders) {
            orders[child].add(order);
        }
    }
    for (auto& [host, message] : orders) {
        turn.orders.emplace_back(host, message.text());
    }
}

}  // namespace weir::scale
