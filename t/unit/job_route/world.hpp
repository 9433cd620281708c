// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a world to test routes in: a parent instance and its children as small state machines around the real
// RouteTable and ChildLink, with every message, RPC and journal event in a queue of its own that a test advances one
// step at a time. Any process may be killed: then it goes on from its eventlogs, without the last events if they had
// not left it. It checks at each start of a process that this is the first. Source: RFC 21 as far as tap.cpp relies on
// it.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-route/child_link.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route::test {

using Event = JournalEvent;

/// A job of the parent: what its job-manager and the plugin keep of it. `log` is its eventlog; the rest down to the
/// blank line follows from it.
struct ParentJob {
    enum class State { priority, sched, run, cleanup, inactive };
    State state = State::priority;
    bool is_held = false;  ///< the prolog that mirrors is open
    std::optional<int> status;
    std::string failure;
    int urgency = 16;
    std::int64_t priority = 0;  ///< as the job-manager has it

    std::int64_t rank = 16;     ///< the priority that its instance computed
    bool is_limited = false;    ///< a limit holds it back: its priority is 0
    bool is_cancelled = false;  ///< by its user
    bool is_host = false;
    std::optional<std::uint64_t> grant;  ///< child whose allocation waits in the plugin
    JobFacts facts;
    std::vector<Event> log;
    void fold(const Event& event);
    bool has(Event::Kind kind) const;
};

/// A copy. The plugin's marks are memory; `is_held` and the state follow from the log.
struct LocalJob {
    enum class State { sched, allocated, run, cleanup, ended };
    State state = State::sched;
    bool is_held = false;  ///< the prolog that waits for go is open
    std::uint64_t upstream = 0;
    std::vector<Event> log;
    void fold(const Event& event);
    bool has(Event::Kind kind) const;

    bool is_marked = false;    ///< plugin: it opened the prolog
    bool is_released = false;  ///< plugin: it closed it
};

/// Earlier is more; the value that the parent gave, and none is none.
using Place = std::pair<std::int64_t, std::uint64_t>;

struct Message {
    enum class Kind { attach, report, attached, refused, orders, ack };
    Kind kind = Kind::attach;
    std::string session;
    Attach attach;
    std::vector<ChildEvent> events;
    std::vector<Order> orders;
    std::uint64_t seq = 0;
};

struct Instance {
    std::uint64_t host = 0;
    bool is_alive = true;
    bool is_ready = false;    ///< has read its journal
    bool is_stopped = false;  ///< SIGSTOP: its links stay, and it does nothing
    bool does_run() const { return is_alive && !is_stopped; }
    ChildLink link;
    std::map<std::uint64_t, LocalJob> jobs;
    std::deque<std::pair<std::uint64_t, Event>> journal;
    std::vector<std::uint64_t> unwritten;  ///< as World::unwritten
    std::deque<Order> ingest;              ///< submissions under way
    std::deque<LocalOp> ops;
    unsigned refusals = 0;  ///< orders that its job-manager still refuses, as it does while the disk is full
    /// job-priority of this instance: the parent's priorities, and whether it lets anything into the scheduler. It
    /// keeps nothing through a restart.
    std::map<std::uint64_t, std::int64_t> given;
    bool is_open = false;
    std::set<std::uint64_t> first;  ///< the jobs that were its own when it attached, after a restart
    std::string session;            ///< empty: no connection
    bool is_attach_sent = false;
    std::deque<Message> up;
    std::deque<Message> down;
};

struct World {
    static constexpr std::int64_t patience = 3;  ///< ticks
    RouteTable table{false, patience};
    std::map<std::uint64_t, ParentJob> jobs;
    std::map<std::uint64_t, Instance> children;
    std::deque<std::pair<std::uint64_t, Event>> journal;
    bool is_table_ready = true;
    std::deque<TapOp> tap;
    std::deque<std::uint64_t> unprioritised;
    std::deque<JobId> fetch;
    std::deque<std::pair<std::uint64_t, Message>> acks;  ///< sent when the tap has done all before it
    std::map<std::uint64_t, int> starts;
    std::map<std::uint64_t, int> finished_as;  ///< the status a child's process ended with
    std::set<std::uint64_t> failed;            ///< allocated in an instance that died, as its successor found them
    std::uint64_t next_id = 100;
    std::uint64_t sessions = 0;
    std::vector<std::string> violations;

    World() { table.synced(); }

    // ---- the parent's job-manager ----
    std::vector<std::uint64_t> unwritten;  ///< jobs of the last events, which nobody has been told of yet
    void post(std::uint64_t id, Event event);
    void post(std::uint64_t id, Event::Kind kind, const std::string& type = {});
    void clean_if_free(std::uint64_t id);
    /// A job gets its priority when the plugin that knows it says so; only then does it pass into SCHED.
    bool step_priority() {
        if (unprioritised.empty()) {
            return false;
        }
        unwritten.clear();
        const std::uint64_t id = unprioritised.front();
        unprioritised.pop_front();
        ParentJob& job = jobs.at(id);
        if (job.state == ParentJob::State::priority) {
            Event event;
            event.kind = Event::Kind::priority;
            event.priority = job.urgency == 0 || job.is_limited ? 0 : job.rank;
            post(id, event);
            if (job.grant && event.priority == 0) {
                job.grant.reset();
                event.kind = Event::Kind::route;
                post(id, event);
            } else if (job.grant) {
                event.kind = Event::Kind::alloc;
                event.child = *std::exchange(job.grant, std::nullopt);
                post(id, event);
            }
        }
        return true;
    }
    std::uint64_t submit(const std::string& queue) {
        unwritten.clear();
        const std::uint64_t id = next_id++;
        ParentJob& job = jobs[id];
        job.facts.queue = queue;
        Event event;
        post(id, event);
        event.kind = Event::Kind::bypass;
        post(id, event);
        event.kind = Event::Kind::priority;
        event.priority = 16;
        post(id, event);
        return id;
    }
    /// What this instance's job-priority decided: another priority, or a limit holds the job back, or does no more.
    void decide(std::uint64_t id, std::int64_t rank, bool is_limited) {
        ParentJob& job = jobs.at(id);
        job.rank = rank;
        job.is_limited = is_limited;
        if (job.state == ParentJob::State::sched && job.urgency != 0) {
            unwritten.clear();
            Event event;
            event.kind = Event::Kind::priority;
            event.priority = is_limited ? 0 : rank;
            post(id, event);
        }
    }
    std::uint64_t spawn(const std::string& queue) {
        const std::uint64_t id = next_id++;
        ParentJob& job = jobs[id];
        job.is_host = true;
        job.facts.queue = queue;
        job.facts.serves = {queue};
        post(id, Event::Kind::submit);
        post(id, Event::Kind::priority);
        post(id, Event::Kind::alloc);
        unwritten.clear();
        Instance& child = children[id];
        child.host = id;
        child.link.synced();
        child.is_ready = true;
        return id;
    }
    /// A new instance on the state of one that was killed.
    void spawn_on_state_of(std::uint64_t dead) {
        const std::uint64_t id = spawn(jobs.at(dead).facts.queue);
        children.at(id).jobs = std::exchange(children.at(dead).jobs, {});
        restore(children.at(id));
    }
    void cancel(std::uint64_t id) {
        if (jobs.at(id).state <= ParentJob::State::run) {
            unwritten.clear();
            jobs.at(id).is_cancelled = true;
            post(id, Event::Kind::exception, "cancel");
        }
    }
    void set_urgency(std::uint64_t id, int urgency) {
        if (jobs.at(id).state <= ParentJob::State::sched) {
            unwritten.clear();
            Event event;
            event.kind = Event::Kind::urgency;
            event.urgency = urgency;
            post(id, event);
        }
    }
    /// \param cut how many of the last events are lost, if nobody had been told of them.
    void kill_child(std::uint64_t id, unsigned cut);
    /// Only its broker: the job that it is goes on, without it or with a new broker on the same state.
    void kill_broker(std::uint64_t id, unsigned cut);
    void reboot(std::uint64_t id);
    void end_host(std::uint64_t id);
    /// The parent is killed and comes back. Its children die with it, or live on.
    void kill_parent(unsigned cut, bool is_alone);
    void restore(Instance& child);

    // ---- the parent's module ----
    void take_table() {
        ParentActions actions = table.take();
        tap.insert(tap.end(), actions.tap.begin(), actions.tap.end());
        fetch.insert(fetch.end(), actions.fetch.begin(), actions.fetch.end());
        std::map<std::uint64_t, std::vector<Order>> orders;
        for (auto& [child, order] : actions.orders) {
            orders[child.value].push_back(order);
        }
        for (auto& [id, list] : orders) {
            Instance& child = children.at(id);
            Message message;
            message.kind = Message::Kind::orders;
            message.session = child.session;
            message.orders = std::move(list);
            child.down.push_back(std::move(message));
        }
        for (const JobId id : actions.silent) {
            Instance& child = children.at(id.value);
            child.down.push_back({Message::Kind::refused, child.session, {}, {}, {}, 0});
        }
    }
    bool step_journal() {
        if (journal.empty() || !is_table_ready) {
            return false;
        }
        unwritten.clear();
        const auto [id, event] = journal.front();
        journal.pop_front();
        feed(id, event);
        take_table();
        return true;
    }
    void feed(std::uint64_t id, const Event& event) {
        if (event.kind == Event::Kind::submit) {
            table.submitted(JobId{id}, event, jobs.at(id).facts);
        } else {
            table.event(JobId{id}, event);
        }
    }
    /// The module starts over: everything but the eventlogs is gone.
    void restart_table() {
        table = RouteTable(false, patience);
        tap.clear();
        fetch.clear();
        acks.clear();
        journal.clear();
        for (auto& [id, child] : children) {
            drop_link(id);
        }
        for (const auto& [id, job] : jobs) {
            if (job.state != ParentJob::State::inactive) {
                for (const Event& event : job.log) {
                    feed(id, event);
                }
            }
        }
        table.synced();
        take_table();
    }
    bool step_tap();
    void apply(const TapOp& op);
    bool step_fetch() {
        if (fetch.empty()) {
            return false;
        }
        const JobId id = fetch.front();
        fetch.pop_front();
        table.jobspec_ready(id, "{}");
        take_table();
        return true;
    }

    void tick() {
        for (auto& [id, child] : children) {
            if (child.does_run()) {
                child.link.repeat();
                take_link(child);
            }
            if (child.does_run() && !child.session.empty()) {
                (void)table.report({JobId{id}, child.session, {}});  // its heartbeat; refused before it is attached
            }
        }
        table.tick();
        take_table();
    }

    // ---- links ----
    void drop_link(std::uint64_t id) {
        Instance& child = children.at(id);
        if (!child.session.empty()) {
            table.detach(JobId{id}, child.session);
        }
        child.session.clear();
        child.is_attach_sent = false;
        child.up.clear();
        child.down.clear();
        child.link.lost();
        for (auto ack = acks.begin(); ack != acks.end();) {
            ack = ack->first == id ? acks.erase(ack) : ack + 1;
        }
    }
    bool step_up(std::uint64_t id);
    bool step_down(std::uint64_t id);
    bool connect(std::uint64_t id);
    bool send_report(std::uint64_t id);

    // ---- a child ----
    void post_local(Instance& child, std::uint64_t local, Event event);
    void post_local(Instance& child, std::uint64_t local, Event::Kind kind, const std::string& type = {});
    void start_local(Instance& child, std::uint64_t local);
    void close_prolog(Instance& child, std::uint64_t local);
    void take_link(Instance& child) {
        ChildActions actions = child.link.take();
        child.ingest.insert(child.ingest.end(), actions.submits.begin(), actions.submits.end());
        child.ops.insert(child.ops.end(), actions.ops.begin(), actions.ops.end());
        for (const GivenPriority& one : actions.priorities) {
            child.given.erase(one.id.value);
            if (one.value) {
                child.given[one.id.value] = *one.value;
            }
        }
        child.is_open = child.is_open || child.link.is_complete();
    }
    /// The copies that wait, in the order in which the instance's scheduler looks at them.
    static std::vector<std::uint64_t> order_of(const Instance& child);
    void check_order(const Instance& child, std::uint64_t started);
    void feed_local(Instance& child, std::uint64_t local, const Event& event) {
        if (event.kind == Event::Kind::submit) {
            JobFacts facts;
            facts.upstream = child.jobs.at(local).upstream;
            child.link.submitted(LocalId{local}, event, facts);
        } else {
            child.link.event(LocalId{local}, event);
        }
    }
    bool step_local_journal(std::uint64_t id);
    bool step_ingest(std::uint64_t id);
    bool step_op(std::uint64_t id);
    bool step_alloc(std::uint64_t id);
    bool step_finish(std::uint64_t id);
    void end_local(Instance& child, std::uint64_t local, Event event);
    void fail_local(Instance& child, std::uint64_t local, const std::string& type);
    void restart_link(std::uint64_t id);
    void shut_down(std::uint64_t id);

    // ---- all of it ----
    bool is_full = false;  ///< the children have nothing free
    bool step_anything();
    void drain();
};

}  // namespace weir::route::test
