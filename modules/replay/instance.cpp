// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Instance. See instance.hpp.
#include "modules/replay/instance.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "modules/replay/refusal.hpp"

namespace weir::replay {
namespace {

using namespace std::chrono_literals;
using route::JournalEvent;
using route::LocalId;
using route::TapOp;
constexpr const char* session = "1";  ///< no link is ever lost
constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

route::JobId host_of(std::size_t partition) {
    return route::JobId{partition + 1};
}
std::size_t partition_of(route::JobId host) {
    return host.value - 1;
}

/// Of the tree below: 1 where no partition has partitions.
std::int64_t height_of(const std::vector<SimPartition>& partitions) {
    std::int64_t height = 0;
    for (const SimPartition& one : partitions) {
        height = std::max(height, height_of(one.partitions) + 1);
    }
    return height;
}

/// From the hand-down of a job until its allocation is known, at most: the order, the answer to a report that is under
/// way, up to the next report, and that one. Each level below adds the way down and up, and the wait for a report.
/// Without a link delay it is known as soon as a partition reports.
std::int64_t time_on_the_way(const SimTree& tree, std::int64_t height) {
    const Duration most =
        4 * tree.link_delay + tree.report_interval + (height - 1) * (2 * tree.link_delay + tree.report_interval);
    return tree.link_delay > Duration{} ? std::chrono::ceil<std::chrono::seconds>(most).count() : 0;
}

}  // namespace

Instance::Instance(const SimTree& tree, const SimPartition* own)
    : partitions_(own != nullptr ? own->partitions : tree.partitions),
      way_(time_on_the_way(tree, height_of(partitions_))),
      table_(own != nullptr, endless, tree.hand_down) {
    if (own != nullptr) {
        link_.synced();
        link_.attached();
    }
    if (partitions_.empty()) {
        pool_.emplace(SimCores(own->cores), own->scheduler);
        return;
    }
    table_.set_time_on_the_way(way_);
    table_.synced();
    std::vector<route::KeptPartition> kept;
    for (std::size_t i = 0; i < partitions_.size(); i++) {
        const SimPartition& one = partitions_[i];
        attach(i, one);
        kept.push_back({one.name, host_of(i), one.queues, one.overflow, one.cores, one.rules, one.limits});
    }
    last_id_ = partitions_.size();
    (void)table_.set_partitions(std::move(kept));
    (void)table_.take();  // `complete` for each child, which has no jobs
}

void Instance::attach(std::size_t partition, const SimPartition& what) {
    const route::JobId host = host_of(partition);
    route::JobFacts facts;
    facts.serves = what.queues;
    facts.cores = what.cores;
    facts.partition = what.name;
    table_.submitted(host, {}, facts);
    for (const auto kind : {JournalEvent::Kind::priority, JournalEvent::Kind::alloc, JournalEvent::Kind::start}) {
        JournalEvent event;
        event.kind = kind;
        table_.event(host, event);
    }
    route::Attach attach;
    attach.child = host;
    attach.session = session;
    attach.serves = what.queues;
    attach.cores = what.cores;
    WEIR_CHECK(table_.attach(attach, {0, true}).has_value());
}

// ---- what is recorded here ----

void Instance::record(LocalId id, const JournalEvent& event) {
    if (!is_leaf()) {
        table_.event(route::JobId{id.value}, event);
    }
    link_.event(id, event);
}

void Instance::record(LocalId id, JournalEvent::Kind kind, const std::string& type) {
    JournalEvent event;
    event.kind = kind;
    event.type = type;
    record(id, event);
}

/// \param child  that has the cores; 0: this instance
void Instance::record_alloc(LocalId id, std::uint64_t child) {
    JournalEvent event;
    event.kind = JournalEvent::Kind::alloc;
    event.child = child;
    event.R = "{}";
    copies_.at(id).is_allocated = true;
    waiting_--;
    record(id, event);
    note(News::Kind::allocated, id);
}

/// Its end is on record.
void Instance::forget(Copies::iterator copy) {
    waiting_ -= copy->second.is_allocated ? 0 : 1;
    note(News::Kind::ended, copy->first);
    here_.erase(copy->second.job->place);
    copies_.erase(copy);
}

// ---- jobs ----

/// \param above  the order by which it came; null: its user submitted it here
LocalId Instance::add(LogJobPtr job, const route::Order* above) {
    const LocalId id{++last_id_};
    if (!is_leaf()) {
        JournalEvent event;
        event.userid = job->job.user;
        event.at = job->job.submit;
        route::JobFacts facts = job->facts;
        if (above != nullptr) {
            facts.upstream = above->id.value;
            facts.upstream_userid = above->userid;
            facts.upstream_submit = above->submit;
        }
        table_.submitted(route::JobId{id.value}, event, facts);
        record(id, JournalEvent::Kind::bypass);
    }
    copies_.emplace(id, Copy{std::move(job)});
    waiting_++;
    return id;
}

LocalId Instance::submit(LogJobPtr job) {
    return add(std::move(job), nullptr);
}

void Instance::set_priority(LocalId id, std::uint32_t priority) {
    copies_.at(id).priority = priority;
    JournalEvent event;
    event.kind = JournalEvent::Kind::priority;
    event.priority = priority;
    record(id, event);
}

void Instance::take(const std::vector<SentOrder>& orders) {
    std::map<route::JobId, LogJobPtr> jobs;
    for (const auto& [order, job] : orders) {
        if (job) {
            jobs.emplace(order.id, job);
        }
        link_.order(order);
    }
    const route::ChildActions actions = link_.take();
    prioritize(actions.priorities);
    for (const route::Order& order : actions.submits) {
        submit(order, jobs.at(order.id));
    }
    for (const route::LocalOp& op : actions.ops) {
        perform(op);
    }
    for (const route::LocalOp& op : link_.take().ops) {  // of jobs that were cancelled before they were submitted
        perform(op);
    }
}

/// The order was decided above: the priority there, then the age of the user's job. An instance with partitions refuses
/// what none of them can hold, and the one above looks for another place.
void Instance::submit(const route::Order& order, LogJobPtr job) {
    if (!is_leaf()) {
        if (const auto why = refusal_of(partitions_, job->facts, job->job.user)) {
            link_.submit_failed(order.id, why->why, false);
            return;
        }
    }
    const LocalId id = add(std::move(job), &order);
    const auto priority = static_cast<std::uint32_t>(order.priority);
    if (is_leaf()) {
        Copy& copy = copies_.at(id);
        copy.priority = priority;
        pool_->submit(key_of(copy), copy.job->job);
        WEIR_CHECK(here_.emplace(copy.job->place, id).second);
        wants_pass_ = true;
    }
    link_.submit_done(order.id, id);
    set_priority(id, priority);  // the scheduler knows it
}

void Instance::prioritize(const std::vector<route::GivenPriority>& priorities) {
    changes_.clear();
    for (const route::GivenPriority& given : priorities) {
        const LocalId id = link_.local_of(given.id);
        const auto found = copies_.find(id);
        if (!given.value || found == copies_.end() || found->second.is_allocated) {
            continue;
        }
        Copy& copy = found->second;
        const auto value = static_cast<std::uint32_t>(*given.value);
        if (value == copy.priority) {
            continue;
        }
        if (is_leaf()) {
            changes_.emplace_back(key_of(copy), value);
            copy.priority = value;
        } else {
            set_priority(id, value);
        }
    }
    if (!changes_.empty()) {
        pool_->prioritize(changes_, [this](JobId place) { return copies_.at(here_.at(place.value)).priority; });
        wants_pass_ = true;
    }
}

void Instance::perform(const route::LocalOp& op) {
    const auto found = copies_.find(op.job);
    if (found == copies_.end()) {  // it ended
        return;
    }
    if (op.kind != route::LocalOp::Kind::go) {
        WEIR_CHECK(op.kind == route::LocalOp::Kind::raise);  // nobody changes an urgency
        fail(found, op.type);
    } else if (is_leaf()) {
        record(op.job, JournalEvent::Kind::start);
        note(News::Kind::started, op.job);
    } else {
        table_.allow_go(route::JobId{op.job.value});
    }
}

/// The job is recalled. Where a partition has its cores, it ends with the copy there.
void Instance::fail(Copies::iterator copy, const std::string& type) {
    const auto& [id, what] = *copy;
    if (is_leaf() && what.is_allocated) {
        pool_->give_back(JobId{what.job->place}, what.job->job, what.allocated);
    } else if (is_leaf()) {
        pool_->withdraw(key_of(what));
    }
    record(id, JournalEvent::Kind::exception, type);
    if (is_leaf() || !what.is_allocated) {
        record(id, JournalEvent::Kind::clean);
        forget(copy);
    }
    wants_pass_ = true;
}

// ---- partitions of its own ----

/// Their ends are news when they are reported, as for job-priority.
std::uint64_t Instance::take_report(std::size_t partition, std::vector<route::ChildEvent> events) {
    for (const route::ChildEvent& event : events) {
        if (event.kind == route::ChildEvent::Kind::finished) {
            note(News::Kind::finished, LocalId{event.id.value});
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

std::optional<Instance::Orders> Instance::act() {
    std::map<std::size_t, std::vector<SentOrder>> orders;
    bool is_news = false;
    while (true) {
        route::ParentActions actions = table_.take();
        if (actions.tap.empty() && actions.fetch.empty() && actions.orders.empty()) {
            break;
        }
        is_news = true;
        for (const TapOp& op : actions.tap) {
            apply(op);
        }
        for (const route::JobId id : actions.fetch) {
            table_.jobspec_ready(id, {});
        }
        for (auto& [child, order] : actions.orders) {
            const bool is_submit = order.kind == route::Order::Kind::submit;
            LogJobPtr job = is_submit ? copies_.at(LocalId{order.id.value}).job : nullptr;
            orders[partition_of(child)].push_back({std::move(order), std::move(job)});
        }
    }
    return is_news
               ? std::optional(Orders{std::make_move_iterator(orders.begin()), std::make_move_iterator(orders.end())})
               : std::nullopt;
}

/// What the plugin does.
void Instance::apply(const TapOp& op) {
    const LocalId id{op.id.value};
    JournalEvent event;
    event.kind = JournalEvent::Kind::route;
    switch (op.kind) {
        case TapOp::Kind::give:
            event.child = op.child.value;
            record(id, event);
            return;
        case TapOp::Kind::alloc:
            if (copies_.at(id).priority == priority_held) {  // a limit holds it back: no child has it
                record(id, event);
                return;
            }
            record_alloc(id, op.child.value);
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
            forget(copies_.find(id));
            return;
        case TapOp::Kind::exception:
            break;
    }
    WEIR_CHECK(op.kind != TapOp::Kind::exception);  // nobody cancels a job, and no partition dies
}

std::vector<route::ChildEvent> Instance::report() {
    return link_.next_report(route::report_events_max);
}

// ---- time ----

/// A job that fits and does not start counts seconds up to the longest patience; more of them change nothing.
void Instance::count_seconds(Instant now) {
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    const std::int64_t seconds = (second - std::exchange(second_, second)) / 1s;
    for (std::int64_t i = 0; i < std::min(seconds, route::HandDown::stuck_after_max + way_); i++) {
        table_.tick();
    }
}

Instant Instance::next_move() const {
    const auto seconds = partitions_.size() > 1 && waiting_ > 0 ? table_.next_move() : std::nullopt;
    return seconds ? second_ + std::chrono::seconds(*seconds) : never;
}

// ---- of a leaf ----

bool Instance::pass(Instant now) {
    wants_pass_ = false;
    const std::vector<QueueKey>& allocated = pool_->pass(now);
    for (const QueueKey& key : allocated) {
        const LocalId id = here_.at(key.id.value);
        pool_->started(key);
        copies_.at(id).allocated = now;
        record_alloc(id, 0);
    }
    return !allocated.empty();
}

void Instance::end(std::uint64_t place) {
    const auto copy = copies_.find(here_.at(place));
    const Copy& what = copy->second;
    pool_->give_back(JobId{place}, what.job->job, what.allocated);
    record(copy->first, JournalEvent::Kind::finish);
    record(copy->first, JournalEvent::Kind::clean);
    forget(copy);
    wants_pass_ = true;
}

}  // namespace weir::replay
