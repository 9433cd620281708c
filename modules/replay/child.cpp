// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Child. See child.hpp.
#include "modules/replay/child.hpp"

namespace weir::replay {
namespace {

using route::JournalEvent;
constexpr std::size_t report_max = 256;  ///< events, as ChildRole sends them

}  // namespace

Child::Child(std::int64_t cores, const Policy& policy, JobLookup job_of)
    : job_of_(std::move(job_of)), pool_(SimCores(cores), policy) {
    link_.synced();
    link_.attached();
}

std::vector<route::ChildEvent> Child::report() {
    return link_.next_report(report_max);
}

void Child::take(const std::vector<route::Order>& orders) {
    for (const route::Order& order : orders) {
        link_.order(order);
    }
    const route::ChildActions actions = link_.take();
    prioritize(actions.priorities);
    for (const route::Order& order : actions.submits) {
        submit(order);
    }
    for (const route::LocalOp& op : actions.ops) {
        perform(op);
    }
    for (const route::LocalOp& op : link_.take().ops) {  // of jobs that were cancelled before they were submitted
        perform(op);
    }
}

/// The order was decided above: the parent's priority, then the age of the parent's job.
void Child::submit(const route::Order& order) {
    const SimJob& job = job_of_(order.id);
    Copy copy;
    copy.local = route::LocalId{++last_local_};
    copy.key = {static_cast<std::uint32_t>(order.priority), job.submit, JobId{order.id.value}};
    pool_.submit(copy.key, job);
    WEIR_CHECK(copies_.emplace(order.id.value, copy).second);
    link_.submit_done(order.id, copy.local);
    journal(copy, JournalEvent::Kind::priority);  // the scheduler knows it
    wants_pass_ = true;
}

void Child::prioritize(const std::vector<route::GivenPriority>& priorities) {
    changes_.clear();
    for (const route::GivenPriority& given : priorities) {
        const auto found = copies_.find(given.id.value);
        if (!given.value || found == copies_.end() || found->second.allocated != never) {
            continue;
        }
        QueueKey& key = found->second.key;
        if (const auto value = static_cast<std::uint32_t>(*given.value); value != key.priority) {
            changes_.emplace_back(key, value);
            key.priority = value;
        }
    }
    if (!changes_.empty()) {
        pool_.prioritize(changes_, [this](JobId id) { return copies_.at(id.value).key.priority; });
        wants_pass_ = true;
    }
}

void Child::perform(const route::LocalOp& op) {
    const route::JobId id = link_.parent_of(op.job);
    const auto found = copies_.find(id.value);
    if (found == copies_.end() || found->second.local != op.job) {  // it ended
        return;
    }
    if (op.kind == route::LocalOp::Kind::go) {
        journal(found->second, JournalEvent::Kind::start);
        started_.push_back(id);
        return;
    }
    WEIR_CHECK(op.kind == route::LocalOp::Kind::raise);  // nobody changes an urgency
    const Copy copy = found->second;
    copies_.erase(found);
    if (copy.allocated == never) {
        pool_.withdraw(copy.key);
    } else {
        pool_.give_back(copy.key.id, job_of_(id), copy.allocated);
    }
    journal(copy, JournalEvent::Kind::exception, op.type);
    journal(copy, JournalEvent::Kind::clean);
    wants_pass_ = true;
}

bool Child::pass(Instant now) {
    wants_pass_ = false;
    const std::vector<QueueKey>& allocated = pool_.pass(now);
    for (const QueueKey& key : allocated) {
        Copy& copy = copies_.at(key.id.value);
        pool_.started(key);
        copy.allocated = now;
        journal(copy, JournalEvent::Kind::alloc);
    }
    return !allocated.empty();
}

void Child::end(route::JobId id) {
    const auto found = copies_.find(id.value);
    const Copy copy = found->second;
    copies_.erase(found);
    pool_.give_back(copy.key.id, job_of_(id), copy.allocated);
    journal(copy, JournalEvent::Kind::finish);
    journal(copy, JournalEvent::Kind::clean);
    wants_pass_ = true;
}

void Child::journal(const Copy& copy, JournalEvent::Kind kind, const std::string& type) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    event.priority = copy.key.priority;
    event.R = kind == JournalEvent::Kind::alloc ? "{}" : "";
    link_.event(copy.local, event);
}

}  // namespace weir::replay
