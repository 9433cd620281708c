// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Parent. See parent.hpp.
#include "modules/replay/parent.hpp"

#include <algorithm>
#include <limits>

namespace weir::replay {
namespace {

using route::JournalEvent;
using route::TapOp;
constexpr const char* session = "1";  ///< no link is ever lost
constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

route::JobId host_of(std::size_t partition) {
    return route::JobId{partition + 1};
}
std::size_t partition_of(route::JobId host) {
    return host.value - 1;
}

/// From the hand-down of a job until its allocation is known, at most: the order, the answer to a report that is under
/// way, up to the next report, and that one. Without a link delay it is known as soon as a partition reports.
std::int64_t time_on_the_way(const SimTree& tree) {
    const Duration most = 4 * tree.link_delay + tree.report_interval;
    return tree.link_delay > Duration{} ? std::chrono::ceil<std::chrono::seconds>(most).count() : 0;
}

}  // namespace

route::JobFacts facts_of(const SimTree& tree, const SimJob& job) {
    route::JobFacts facts;
    facts.queue = tree.queue_of(job);
    facts.cores = job.cores;
    facts.account = tree.account_of ? tree.account_of(job) : "";
    facts.duration = job.limit == Duration::max() ? Duration::zero() : job.limit;
    return facts;
}

Parent::Parent(const SimTree& tree, QueueOrder* order)
    : tree_(tree), order_(order), table_(false, endless, tree.hand_down), way_(time_on_the_way(tree)) {
    table_.set_time_on_the_way(way_);
    table_.synced();
    std::vector<route::KeptPartition> kept;
    for (std::size_t i = 0; i < tree.partitions.size(); i++) {
        const SimPartition& one = tree.partitions[i];
        attach(i, one);
        kept.push_back({one.name, host_of(i), one.queues, one.overflow, one.cores, one.rules, one.limits});
    }
    (void)table_.set_partitions(std::move(kept));
    (void)table_.take();  // `complete` for each child, which has no jobs
}

void Parent::attach(std::size_t partition, const SimPartition& what) {
    const route::JobId host = host_of(partition);
    route::JobFacts facts;
    facts.serves = what.queues;
    facts.cores = what.cores;
    facts.partition = what.name;
    table_.submitted(host, {}, facts);
    record(host, JournalEvent::Kind::priority);
    record(host, JournalEvent::Kind::alloc);
    record(host, JournalEvent::Kind::start);
    route::Attach attach;
    attach.child = host;
    attach.session = session;
    attach.serves = what.queues;
    attach.cores = what.cores;
    WEIR_CHECK(table_.attach(attach, {0, true}).has_value());
}

/// A job that fits and does not start counts seconds up to the longest patience; more of them change nothing.
void Parent::tick(std::int64_t seconds) {
    for (std::int64_t i = 0; i < std::min(seconds, route::HandDown::stuck_after_max + way_); i++) {
        table_.tick();
    }
}

const SimJob& Parent::first_waiting() const {
    const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return jobs_.at(first->second).job;
}

std::uint32_t Parent::new_slot(route::JobId id) {
    if (unused_.empty()) {
        slots_.push_back(id);
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    slots_[slot] = id;
    return slot;
}

void Parent::submit(const SimJob& job, std::uint64_t place, Instant now) {
    const route::JobId id{tree_.partitions.size() + 1 + place};
    const std::uint32_t slot = new_slot(id);
    jobs_.emplace(id.value, InSystem{job, place, slot});
    waiting_.emplace(job.cores, id.value);
    JournalEvent event;
    event.userid = job.user;
    table_.submitted(id, event, facts_of(tree_, job));
    record(id, JournalEvent::Kind::bypass);
    fresh_.push_back(id);
    wants_order_ = true;
    if (order_ != nullptr) {
        order_->submitted(job, JobId{slot}, now);
    }
}

/// The order gets an end when it is reported, as job-priority does.
std::uint64_t Parent::report(std::size_t partition, std::vector<route::ChildEvent> events, Instant now) {
    for (const route::ChildEvent& event : events) {
        if (event.kind != route::ChildEvent::Kind::finished) {
            continue;
        }
        InSystem& entry = jobs_.at(event.id.value);
        unused_.push_back(entry.slot);
        wants_order_ = true;
        if (order_ != nullptr) {
            order_->ended(entry.job, JobId{entry.slot}, now);
        }
    }
    route::Report report;
    report.child = host_of(partition);
    report.session = session;
    report.events = std::move(events);
    const auto seq = table_.report(report);
    WEIR_CHECK(seq.has_value());
    return *seq;
}

void Parent::prioritize(Instant now) {
    wants_order_ = false;
    changed_.clear();
    if (order_ != nullptr && !waiting_.empty()) {
        order_->prioritize(now, changed_);
    }
    const std::vector<route::JobId> fresh = std::exchange(fresh_, {});
    std::set<route::JobId> news(fresh.begin(), fresh.end());
    for (const auto& [slot, priority] : changed_) {
        const route::JobId id = slots_.at(slot.value);
        if (std::exchange(jobs_.at(id.value).priority, priority) != priority) {
            news.insert(id);
        }
    }
    for (const route::JobId id : news) {
        JournalEvent event;
        event.kind = JournalEvent::Kind::priority;
        event.priority = jobs_.at(id.value).priority;
        record(id, event);
    }
}

Parent::Orders Parent::act(Instant now) {
    std::map<std::size_t, std::vector<route::Order>> orders;
    while (true) {
        route::ParentActions actions = table_.take();
        if (actions.tap.empty() && actions.fetch.empty() && actions.orders.empty()) {
            break;
        }
        for (const TapOp& op : actions.tap) {
            apply(op, now);
        }
        for (const route::JobId id : actions.fetch) {
            table_.jobspec_ready(id, {});
        }
        for (auto& [child, order] : actions.orders) {
            orders[partition_of(child)].push_back(std::move(order));
        }
    }
    return {std::make_move_iterator(orders.begin()), std::make_move_iterator(orders.end())};
}

void Parent::record(route::JobId id, JournalEvent event) {
    table_.event(id, event);
}

void Parent::record(route::JobId id, JournalEvent::Kind kind, const std::string& type) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    record(id, std::move(event));
}

/// What the plugin does.
void Parent::apply(const TapOp& op, Instant now) {
    JournalEvent event;
    event.child = op.child.value;
    switch (op.kind) {
        case TapOp::Kind::give:
            event.kind = JournalEvent::Kind::route;
            record(op.id, event);
            return;
        case TapOp::Kind::alloc: {
            const InSystem& entry = jobs_.at(op.id.value);
            if (entry.priority == priority_held) {  // a limit holds it back: no child has it
                event.kind = JournalEvent::Kind::route;
                event.child = 0;
                record(op.id, event);
                return;
            }
            event.kind = JournalEvent::Kind::alloc;
            record(op.id, event);
            waiting_.erase({entry.job.cores, op.id.value});
            if (order_ != nullptr) {
                order_->started(entry.job, JobId{entry.slot}, now);
            }
            return;
        }
        case TapOp::Kind::start:
            record(op.id, JournalEvent::Kind::start);
            return;
        case TapOp::Kind::finish:
            record(op.id, JournalEvent::Kind::finish);
            return;
        case TapOp::Kind::clean:
            record(op.id, JournalEvent::Kind::prolog_finish, route::mirror_prolog);
            record(op.id, JournalEvent::Kind::clean);
            jobs_.erase(op.id.value);
            ended_++;
            return;
        case TapOp::Kind::exception:
            break;
    }
    WEIR_CHECK(op.kind != TapOp::Kind::exception);  // nobody cancels a job, and no partition dies
}

}  // namespace weir::replay
