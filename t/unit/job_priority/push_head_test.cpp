// SPDX-License-Identifier: LGPL-3.0-only
// What the module sends under the rule "head", to the job-manager and to a scheduler that takes the order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "modules/job-priority/ranking/pending_queue.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

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
    /// The job that may start with the greatest key.
    template <typename Key>
    std::optional<FluxJobId> first_by(Key key) const {
        std::optional<FluxJobId> first;
        for (const auto& [id, factor] : factor_of) {
            if (may_start(id) && (!first || key(id) > key(*first))) {
                first = id;
            }
        }
        return first;
    }
    std::optional<FluxJobId> first_started() const {
        return first_by([this](FluxJobId id) { return sorted_by(id); });
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
        return first_by([this](FluxJobId id) { return fine(id); });
    }
    /// Whether the numbers in the job-manager sort the jobs of each association, whatever its factor was when they
    /// came.
    bool are_associations_in_order() const {
        std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::int64_t>>> behind;
        for (const auto& [id, factor] : factor_of) {
            if (may_start(id) && values.at(id) <= behind_head_max) {
                behind[factor].emplace_back(values.at(id), fine(id));
            }
        }
        return std::all_of(behind.begin(), behind.end(), [](auto& jobs) {
            std::sort(jobs.second.begin(), jobs.second.end());
            return std::is_sorted(jobs.second.begin(), jobs.second.end(), [](const auto& a, const auto& b) {
                return a.second < b.second - (1 << PriorityEngine::fine_bits);
            });
        });
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

// Mutant: modules/job-priority/ranking/pending_queue_pass.cpp: if (place.is_held_back) { => if (false) {
TEST_CASE("push rule: once the rule is head, what limits admitted before is in it, and what they hold back is not") {
    HeadWorld world(1);
    Settings numbers = HeadWorld::head_settings(1);
    numbers.push = config::PushRule::numbers;
    world.queue.configure(numbers, MachineSize{64}, {});
    const auto put_all = [&world] {
        world.put(1, 0, 17);
        world.put(2, 0, 20);
        world.put(3, 1, 16);
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
    world.factors = {0.9, 0.5, 0.2};  // the number of the first is behind that of the third
    world.pass(true);
    world.deliver();
    CHECK(world.values.at(1) > behind_head_max);
    CHECK(world.values.at(3) <= behind_head_max);
}

// Kills: a held or limited job that keeps its place; a released one that keeps the value of the head; a number above
// the head's values; a job that left the head of a scheduler that takes the order and is not withdrawn; head values
// left in the job-manager when a scheduler comes that takes the order; a rank swap that waits for the full pass; jobs
// that are sorted behind the head by the fair share of the time when they came.
// Mutant: modules/job-priority/ranking/pending_queue_pass.cpp: basis.at, basis.factor) => at.now, at.factors)
// Mutant: modules/job-priority/ranking/pending_queue_pass.cpp: return count_of(factor) != 0; => return false;
TEST_CASE("push rule: with the head alone in order, the scheduler starts the true first of those that may start") {
    draw::property("arrivals, starts, ends, rank swaps, holds, limits, another scheduler", [] {
        HeadWorld world(draw::in_range(1U, 6U));
        FluxJobId next = 1;
        const int steps = draw::in_range(1, 50);
        for (int step = 0; step < steps; step++) {
            const int what = draw::in_range(0, 14);
            const auto pick = [&] {
                return std::next(world.factor_of.begin(),
                                 draw::in_range<int>(0, static_cast<int>(world.factor_of.size())))
                    ->first;
            };
            if (what < 4 || world.factor_of.empty()) {
                world.put(next++, draw::in_range(0U, 3U), draw::element(16, 16, 10, 1, 0));
            } else if (what < 7) {
                const auto first = world.first_started();
                world.leave(what == 4 || !first ? pick() : *first);
            } else if (what < 9) {
                const auto factor = draw::in_range(0U, 3U);
                std::swap(world.factors[factor], world.factors[(factor + 1) % 3]);
                world.queue.mark_factor(factor);
            } else if (what == 9) {
                const FluxJobId id = pick();
                world.put(id, draw::in_range(0U, 3U), draw::element(16, 10, 1, 0, 31));
            } else if (what < 12) {
                const FluxJobId id = pick();
                world.hold_back(id, world.held_back.count(id) == 0);
            } else if (what == 12) {
                world.now += std::chrono::hours(draw::in_range(0, 40));
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
            world.pass(draw::in_range(0, 4) == 0);
            world.deliver();
            const auto started = world.first_started();
            const auto meant = world.true_first();
            RC_ASSERT(started.has_value() == meant.has_value());
            if (started) {
                RC_ASSERT(std::abs(world.fine(*started) - world.fine(*meant)) <= 2);
            }
            RC_ASSERT(world.queue.scheduler().takes_order || world.are_associations_in_order());
        }
    });
}

// Mutant: modules/job-priority/ranking/pending_queue_pass.cpp: given_first() ? 0 : order_bits => false ? 0 : order_bits
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
    draw::property("arrivals, starts, edits, holds, rank swaps, time, the scheduler loaded anew", [] {
        HeadWorld world(1);
        world.queue.set_scheduler({true, 0});
        FluxJobId next = 1;
        std::int64_t nonce = 1;
        const int steps = draw::in_range(1, 40);
        for (int step = 0; step < steps; step++) {
            const int what = draw::in_range(0, 10);
            if (what < 4 || world.factor_of.empty()) {
                world.put(next++, draw::in_range(0U, 3U), draw::element(16, 15, 10, 1, 0));
            } else if (what < 7) {
                const FluxJobId id =
                    std::next(world.factor_of.begin(), draw::in_range<int>(0, static_cast<int>(world.factor_of.size())))
                        ->first;
                if (what == 4) {
                    world.leave(id);
                } else if (what == 5) {
                    world.put(id, draw::in_range(0U, 3U), draw::element(16, 10, 1, 0, 31));
                } else {
                    world.hold_back(id, world.held_back.count(id) == 0);
                }
            } else if (what == 7) {
                std::swap(world.factors[0], world.factors[draw::in_range<std::size_t>(1, 3)]);
            } else if (what == 8) {
                world.now += std::chrono::hours(draw::in_range(0, 80));
            } else {
                world.order.clear();
                world.scheduler.check_nonce(++nonce);
            }
            world.pass(what == 8 || draw::in_range(0, 4) == 0);
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
