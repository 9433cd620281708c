// SPDX-License-Identifier: LGPL-3.0-only
// What the module sends under each push rule while a real log's jobs wait.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "libsched/sim/simulate.hpp"
#include "modules/job-priority/ranking/pending_queue.hpp"
#include "t/unit/job_priority/support.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/trace_files.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// One instance's queue and the job-manager behind it.
struct Side {
    explicit Side(const Settings& settings, std::int64_t cores)
        : queue(settings, MachineSize{static_cast<std::uint32_t>(cores), 1, 0., 0.}) {}

    void deliver() {
        while (const auto push = pusher.next()) {
            for (const auto& [id, value] : push->jobs) {
                sent_again += values.count(id);
                values[id] = value;
            }
            pusher.acknowledge(1);
        }
    }
    void start(FluxJobId id) {
        queue.remove(id);
        pusher.forget(id);
        values.erase(id);
    }

    PendingQueue queue;
    Pusher pusher;
    std::map<FluxJobId, std::uint32_t> values;
    std::uint64_t sent_again = 0;
};

/// Jobs by the values sent, as a job-manager sorts them.
std::vector<JobId> as_sent(const Side& side) {
    std::vector<QueueKey> keys;
    for (const auto& [id, value] : side.values) {
        keys.push_back({value, side.queue.engine().inputs(*side.queue.find(id)).submit, JobId{id}});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<JobId> ids;
    std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const QueueKey& key) { return key.id; });
    return ids;
}

/// Jobs by their priorities with what stands behind the point.
std::vector<JobId> as_meant(const Side& side, Instant now, std::span<const double> factors) {
    const PriorityEngine& engine = side.queue.engine();
    std::vector<std::pair<std::int64_t, QueueKey>> keys;
    for (const auto& [id, value] : side.values) {
        const PriorityEngine::Slot slot = *side.queue.find(id);
        keys.push_back({-engine.fine_priority(slot, now, factors), {0, engine.inputs(slot).submit, JobId{id}}});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<JobId> ids;
    std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const auto& key) { return key.second.id; });
    return ids;
}

}  // namespace

// Kills: a full pass that hands over the numbers under the rule "order"; a value for an event that no pass corrects; a
// started job's value kept for the next job in its slot.
TEST_CASE("push rule: on a real log the order needs a fiftieth of the numbers, and is exact after each pass") {
    const auto folder = weir::test::traces();
    if (!folder) {
        return;
    }
    auto log = weir::test::load_trace(*folder / "KTH-SP2-1996.swf.gz");
    log.jobs.resize(2000);
    const auto outcomes = weir::test::replay(log.jobs, log.cores, Easy{}, nullptr);
    Settings settings = weir::priority::testing::settings();
    settings.wait_after = {.time = {}};
    Side numbers(settings, log.cores);
    settings.push = config::PushRule::order;
    Side order(settings, log.cores);
    std::multimap<Instant, const Outcome*> submissions;
    std::multimap<Instant, const Outcome*> starts;
    std::multimap<Instant, const Outcome*> ends;
    for (const Outcome& outcome : outcomes) {
        submissions.emplace(outcome.job.submit, &outcome);
        starts.emplace(outcome.start, &outcome);
        ends.emplace(outcome.end(), &outcome);
    }
    constexpr std::uint32_t users = 64;
    std::vector<double> factors(users, 1.);
    std::vector<double> used(users, 0.);
    std::vector<double> running(users, 0.);
    const auto user_of = [](const Outcome& outcome) { return outcome.job.user % users; };
    const auto take = [](auto& agenda, Instant now, auto what) {
        while (!agenda.empty() && agenda.begin()->first <= now) {
            what(*agenda.begin()->second);
            agenda.erase(agenda.begin());
        }
    };
    for (Instant now = log.jobs.front().submit; !starts.empty(); now += std::chrono::seconds(30)) {
        take(submissions, now, [&](const Outcome& outcome) {
            BookJob job;
            job.id = outcome.place + 1;
            job.submit = outcome.job.submit;
            JobRequest request;
            request.cores = outcome.job.cores;
            job.request = std::make_shared<const JobRequest>(std::move(request));
            job.ageing = Ageing(AgeRule::since_submit, outcome.job.submit);
            for (Side* side : {&numbers, &order}) {
                side->queue.put(job, user_of(outcome));
                if (outcome.place % 3 != 0) {  // the others wait for the full pass
                    side->queue.pass_marked(now, factors, side->pusher);
                    side->deliver();
                }
            }
        });
        take(starts, now, [&](const Outcome& outcome) {
            numbers.start(outcome.place + 1);
            order.start(outcome.place + 1);
            running[user_of(outcome)] += outcome.job.cores;
        });
        take(ends, now, [&](const Outcome& outcome) { running[user_of(outcome)] -= outcome.job.cores; });
        for (std::uint32_t user = 0; user < users; user++) {
            used[user] = used[user] * (1 - 30. / (7 * 86400)) + running[user] * 30.;
            factors[user] = std::exp2(-used[user] / (static_cast<double>(log.cores) * 3600.));
        }
        numbers.queue.pass(now, factors, numbers.pusher);
        order.queue.pass(now, factors, order.pusher);
        numbers.deliver();
        order.deliver();
        REQUIRE(order.values.size() == order.queue.engine().size());
        REQUIRE(as_sent(order) == as_meant(order, now, factors));
    }
    INFO("numbers sent again " << numbers.sent_again << ", values of the order " << order.sent_again);
    CHECK(order.sent_again * 50 <= numbers.sent_again);
    CHECK(order.sent_again > 0);
}

TEST_CASE("push rule: changing it sends everything anew, and explain has both the priority and what was sent") {
    Settings settings = weir::priority::testing::settings();
    Side side(settings, 64);
    BookJob job;
    job.id = 7;
    job.submit = at(0);
    side.queue.put(job, 0);
    const std::vector<double> factors{0.5};
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    const std::uint32_t number = side.values.at(7);
    settings.push = config::PushRule::order;
    side.queue.configure(settings, MachineSize{64, 1, 0., 0.}, {});
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    CHECK(side.values.at(7) > 1U << 30);
    CHECK(side.queue.engine().pushed(*side.queue.find(7)) == number);
    settings.push = config::PushRule::numbers;
    side.queue.configure(settings, MachineSize{64, 1, 0., 0.}, {});
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    CHECK(side.values.at(7) == number);
}

namespace {

/// A queue under the rule "head" with its two receivers: the job-manager, and a scheduler that takes the order or not.
/// The scheduler starts the first job by the order's value, else by the job-manager's, among those that may start.
struct HeadWorld {
    static Settings head_settings(std::uint32_t depth) {
        Settings settings = weir::priority::testing::settings();
        settings.push = config::PushRule::head;
        settings.head_depth = depth;
        settings.wait_after = {.time = {}};
        return settings;
    }
    explicit HeadWorld(std::uint32_t depth) : queue(head_settings(depth), MachineSize{64}) {}

    void put(FluxJobId id, std::uint32_t factor, int urgency) {
        BookJob job;
        job.id = id;
        job.submit = at(0);
        job.urgency = urgency;
        job.ageing = Ageing(AgeRule::since_submit, at(0));
        queue.put(job, factor);
        factor_of[id] = factor;
        urgency_of[id] = urgency;
        if (job.is_held() || job.is_expedited()) {
            manager.override(id);
        }
    }
    void leave(FluxJobId id) {
        queue.remove(id);
        manager.forget(id);
        scheduler.withdraw(id);
        factor_of.erase(id);
        urgency_of.erase(id);
        held_back.erase(id);
    }
    void hold_back(FluxJobId id, bool is_held_back) {
        manager.hold_back(id, is_held_back);
        queue.hold_back(id, is_held_back);
        if (is_held_back) {
            held_back.insert(id);
        } else {
            held_back.erase(id);
        }
    }
    void pass(bool is_full) {
        if (is_full) {
            queue.pass(now, factors, manager);
        } else {
            queue.pass_marked(now, factors, manager);
        }
        queue.push_head({now, factors}, is_full, manager, scheduler);
    }
    /// Everything but what is for people's eyes.
    void deliver(std::int64_t nonce = 1) {
        while (const auto push = manager.next(0)) {
            for (const auto& [id, value] : push->jobs) {
                values[id] = value;
            }
            manager.acknowledge(1);
        }
        while (const auto push = scheduler.next()) {
            RC_ASSERT(queue.scheduler().takes_order);
            order.apply(*push);
            scheduler.acknowledge(nonce);
        }
    }
    bool may_start(FluxJobId id) const {
        return urgency_of.at(id) > 0 && urgency_of.at(id) < 31 && held_back.count(id) == 0;
    }
    std::uint32_t sorted_by(FluxJobId id) const {
        return queue.scheduler().takes_order ? order.priority(JobId{id}, values.at(id)) : values.at(id);
    }
    std::optional<FluxJobId> first_started() const {
        std::optional<FluxJobId> first;
        for (const auto& [id, factor] : factor_of) {
            if (may_start(id) && (!first || sorted_by(id) > sorted_by(*first))) {
                first = id;
            }
        }
        return first;
    }
    /// The waiting jobs that may start, as a scheduler that takes the order sorts them.
    std::vector<FluxJobId> as_ordered() const {
        std::vector<QueueKey> keys;
        for (const auto& [id, factor] : factor_of) {
            if (may_start(id)) {
                keys.push_back({sorted_by(id), at(0), JobId{id}});
            }
        }
        std::sort(keys.begin(), keys.end());
        std::vector<FluxJobId> ids;
        std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const auto& key) { return key.id.value; });
        return ids;
    }
    std::optional<FluxJobId> true_first() const {
        std::optional<FluxJobId> first;
        for (const auto& [id, factor] : factor_of) {
            if (may_start(id) && (!first || fine(id) > fine(*first))) {
                first = id;
            }
        }
        return first;
    }
    std::int64_t fine(FluxJobId id) const {
        return queue.engine().fine_priority(*queue.find(id), now, {}) +
               queue.engine().fine_fairshare(factor_of.at(id), factors);
    }

    PendingQueue queue;
    Pusher manager;
    OrderFeed scheduler;
    JobOrder order;
    Instant now = at(0);
    std::vector<double> factors{0.2, 0.5, 0.9};
    std::map<FluxJobId, std::uint32_t> values;
    std::map<FluxJobId, std::uint32_t> factor_of;
    std::map<FluxJobId, int> urgency_of;
    std::set<FluxJobId> held_back;
};

}  // namespace

// Mutant: modules/job-priority/ranking/pending_queue.cpp: if (place.is_held_back) { => if (false) {
TEST_CASE("push rule: once the rule is head, what limits admitted before is in it, and what they hold back is not") {
    HeadWorld world(1);
    Settings numbers = HeadWorld::head_settings(1);
    numbers.push = config::PushRule::numbers;
    world.queue.configure(numbers, MachineSize{64}, {});
    const auto put_all = [&world] {
        world.put(1, 0, 17);
        world.put(2, 0, 20);
        world.put(3, 0, 16);
    };
    put_all();
    world.hold_back(1, true);
    world.hold_back(2, true);
    world.pass(true);
    world.deliver();
    world.hold_back(1, false);
    world.pass(true);
    world.deliver();
    world.queue.configure(HeadWorld::head_settings(1), MachineSize{64}, {});
    put_all();
    world.pass(true);
    world.deliver();
    CHECK(world.values.at(1) > behind_head_max);
    CHECK(world.values.at(3) <= behind_head_max);
}

// Kills: a held or limited job that keeps its place; a released one that keeps the value of the head; a number above
// the head's values; a job that left the head of a scheduler that takes the order and is not withdrawn; head values
// left in the job-manager when a scheduler comes that takes the order; a rank swap that waits for the full pass.
TEST_CASE("push rule: with the head alone in order, the scheduler starts the true first of those that may start") {
    rc::prop("arrivals, starts, ends, rank swaps, holds, limits, another scheduler", [] {
        HeadWorld world(*rc::gen::inRange(1U, 6U));
        FluxJobId next = 1;
        const int steps = *rc::gen::inRange(1, 50);
        for (int step = 0; step < steps; step++) {
            const int what = *rc::gen::inRange(0, 14);
            const auto pick = [&] {
                return std::next(world.factor_of.begin(),
                                 *rc::gen::inRange<int>(0, static_cast<int>(world.factor_of.size())))
                    ->first;
            };
            if (what < 4 || world.factor_of.empty()) {
                world.put(next++, *rc::gen::inRange(0U, 3U), *rc::gen::element(16, 16, 10, 1, 0));
            } else if (what < 7) {
                const auto first = world.first_started();
                world.leave(what == 4 || !first ? pick() : *first);
            } else if (what < 9) {
                const auto factor = *rc::gen::inRange(0U, 3U);
                std::swap(world.factors[factor], world.factors[(factor + 1) % 3]);
                world.queue.mark_factor(factor);
            } else if (what == 9) {
                const FluxJobId id = pick();
                world.put(id, *rc::gen::inRange(0U, 3U), *rc::gen::element(16, 10, 1, 0, 31));
            } else if (what < 12) {
                const FluxJobId id = pick();
                world.hold_back(id, world.held_back.count(id) == 0);
            } else if (what == 12) {
                world.now += std::chrono::hours(*rc::gen::inRange(0, 40));
                world.pass(true);
            } else {
                const bool takes_order = !world.queue.scheduler().takes_order;
                if (!takes_order) {
                    world.scheduler.clear();
                    world.order.clear();
                }
                world.queue.set_scheduler({takes_order, 4});
                world.pass(true);
            }
            world.pass(*rc::gen::inRange(0, 4) == 0);
            world.deliver();
            const auto started = world.first_started();
            const auto meant = world.true_first();
            RC_ASSERT(started.has_value() == meant.has_value());
            if (started) {
                RC_ASSERT(std::abs(world.fine(*started) - world.fine(*meant)) <= 2);
            }
        }
    });
}

// Mutant: modules/job-priority/ranking/pending_queue.cpp: given_first() ? 0 : order_bits => false ? 0 : order_bits
TEST_CASE("push rule: a scheduler that takes the order has the numbers of a policy as they are, however large") {
    HeadWorld world(1);
    Settings settings = HeadWorld::head_settings(1);
    settings.policy = PolicyKind::lsf;
    world.queue.configure(settings, MachineSize{16, 1, 0., 0.}, {});
    world.queue.set_scheduler({true, 0});
    const std::vector<std::uint32_t> numbers{priority_min, 4194304, 2147479551, 2147487743, priority_max};
    for (std::size_t i = 0; i < numbers.size(); i++) {
        world.put(i + 1, 0, 16);
        world.queue.set_priority(*world.queue.find(i + 1), numbers[i]);
    }
    world.pass(true);
    world.deliver();
    for (std::size_t i = 0; i < numbers.size(); i++) {
        CHECK(world.order.priority(JobId{i + 1}, priority_min) == numbers[i]);
    }
}

// Mutant: libsched/priority/order_parts.cpp: changed_.push_back(slot); => changed_.clear();
// Mutant: modules/job-priority/sends/order_feed.cpp: if (is_new || place->second != added) { => if (is_new) {
TEST_CASE("push rule: a scheduler that takes the order has every job at its place, however far behind the first") {
    rc::prop("arrivals, starts, edits, holds, rank swaps, time, the scheduler loaded anew", [] {
        HeadWorld world(1);
        world.queue.set_scheduler({true, 0});
        FluxJobId next = 1;
        std::int64_t nonce = 1;
        const int steps = *rc::gen::inRange(1, 40);
        for (int step = 0; step < steps; step++) {
            const int what = *rc::gen::inRange(0, 10);
            if (what < 4 || world.factor_of.empty()) {
                world.put(next++, *rc::gen::inRange(0U, 3U), *rc::gen::element(16, 15, 10, 1, 0));
            } else if (what < 7) {
                const FluxJobId id = std::next(world.factor_of.begin(),
                                               *rc::gen::inRange<int>(0, static_cast<int>(world.factor_of.size())))
                                         ->first;
                if (what == 4) {
                    world.leave(id);
                } else if (what == 5) {
                    world.put(id, *rc::gen::inRange(0U, 3U), *rc::gen::element(16, 10, 1, 0, 31));
                } else {
                    world.hold_back(id, world.held_back.count(id) == 0);
                }
            } else if (what == 7) {
                std::swap(world.factors[0], world.factors[*rc::gen::inRange<std::size_t>(1, 3)]);
            } else if (what == 8) {
                world.now += std::chrono::hours(*rc::gen::inRange(0, 80));
            } else {
                world.order.clear();
                world.scheduler.check_nonce(++nonce);
            }
            world.pass(what == 8 || *rc::gen::inRange(0, 4) == 0);
            world.deliver(nonce);
            const auto ids = world.as_ordered();
            for (std::size_t i = 1; i < ids.size(); i++) {
                RC_ASSERT(world.fine(ids[i - 1]) + 2 >= world.fine(ids[i]));
            }
            RC_ASSERT(world.order.size() <= world.factor_of.size());
        }
    });
}

TEST_CASE(
    "push rule: a scheduler that takes the order is told each job once, and one number a group at a swap of ranks") {
    HeadWorld world(1);
    world.queue.set_scheduler({true, 0});
    constexpr FluxJobId jobs = 5000;
    for (FluxJobId id = 1; id <= jobs; id++) {
        world.put(id, id % 3, 6 + static_cast<int>(id * 7 % 11));
    }
    world.pass(true);
    world.deliver();
    for (int start = 0; start < 200; start++) {
        world.leave(*world.first_started());
        std::rotate(world.factors.begin(), world.factors.begin() + 1, world.factors.end());
        world.pass(start % 10 == 0);
        const auto change = world.scheduler.next();
        REQUIRE(change);
        CHECK(change->jobs.empty());
        CHECK(change->gone.size() == 1);
        CHECK(change->groups.size() == 3);
        world.order.apply(*change);
        world.scheduler.acknowledge(1);
    }
    CHECK(world.scheduler.sent_total() == jobs);
    CHECK(world.order.size() == jobs - 200);
}

TEST_CASE("push rule: with the head alone in order, what is sent follows the starts and not the queue") {
    HeadWorld world(8);
    constexpr FluxJobId jobs = 5000;
    for (FluxJobId id = 1; id <= jobs; id++) {
        world.put(id, id % 3, 6 + static_cast<int>(id * 7 % 11));
    }
    world.pass(true);
    world.deliver();
    const std::uint64_t before = world.manager.pushed_total();
    CHECK(before == jobs);  // each with its first value
    for (int start = 0; start < 200; start++) {
        world.leave(*world.first_started());
        world.queue.mark_factor(0);
        if (start % 50 == 0) {
            std::rotate(world.factors.begin(), world.factors.begin() + 1, world.factors.end());
        }
        world.pass(start % 10 == 0);
        world.deliver();
    }
    CHECK(world.manager.pushed_total() - before <= 200 + 4 * 2 * 8);
}
