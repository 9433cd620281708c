// SPDX-License-Identifier: LGPL-3.0-only
// Properties of HandDown's plans where partitions have limits: over any course of events none is exceeded.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "modules/job-route/hand_down.hpp"
#include "t/unit/draws.hpp"

namespace {

using weir::route::HandDown;
using weir::route::JobId;
using weir::route::LimitCounts;
using weir::route::PartitionLimits;
using LimitStanding = HandDown::Standing;

/// Jobs of 3 cores are handed down without a bound.
HandDown::Takers one_takes_large(const HandDown::JobClass& jobs) {
    return {100, jobs.cores == 3};
}

/// Children of a queue, of one partition with two instances and of one without limits; jobs of three users.
struct LimitedSite {
    HandDown plan{2};
    PartitionLimits limits;
    std::map<JobId, HandDown::ChildFacts> children;
    std::map<JobId, HandDown::Job> jobs;

    HandDown::Rules rules() const {
        return {[](JobId, JobId) { return true; }, one_takes_large, [](int, int) { return true; }};
    }
    void set(JobId id, const HandDown::Job& job) {
        jobs[id] = job;
        plan.set(id, job);
    }
    void set_limits(const PartitionLimits& now) {
        limits = now;
        for (auto& [id, facts] : children) {
            facts.limits = facts.partition.empty() ? PartitionLimits{} : now;
            plan.set_child(id, facts);
        }
    }
    /// Of the partition's jobs, those of these standings.
    LimitCounts counts(std::initializer_list<LimitStanding> standings) const {
        LimitCounts counts;
        for (const auto& [id, job] : jobs) {
            const bool is_counted = std::find(standings.begin(), standings.end(), job.standing) != standings.end();
            if (is_counted && !children.at(job.child).partition.empty()) {
                counts.add(job.user, job.cores);
            }
        }
        return counts;
    }
    /// Moves to a child are on their way until they are drawn to be on record.
    std::size_t carry_out() {
        const std::vector<HandDown::Move> moves = plan.plan(rules());
        for (const HandDown::Move& move : moves) {
            HandDown::Job job = jobs.at(move.id);
            RC_ASSERT(job.child == move.from);
            job.child = move.to;
            job.standing = move.to.value == 0 ? LimitStanding::waits : LimitStanding::asked;
            job.is_there = false;
            set(move.id, job);
        }
        return moves.size();
    }
    void settle() {
        for (const auto& [id, job] : std::map<JobId, HandDown::Job>(jobs)) {
            if (job.standing == LimitStanding::asked) {
                record(id);
            }
        }
    }
    void record(JobId id) {
        HandDown::Job job = jobs.at(id);
        job.standing = LimitStanding::ahead;
        job.is_there = true;
        set(id, job);
    }
    /// Its child allocates it, whatever the order and the room there.
    void allocate(JobId id) {
        HandDown::Job job = jobs.at(id);
        const bool is_in_partition = !children.at(job.child).partition.empty();
        if (!plan.objections({id}, rules()).empty()) {
            job.standing = LimitStanding::waits;
            job.child = {};
            job.is_there = false;
        } else {
            RC_LOG() << "job " << id.value << " starts\n";
            RC_ASSERT(!is_in_partition || !counts({LimitStanding::busy}).hit(limits, job.user, job.cores).has_value());
            job.standing = LimitStanding::busy;
        }
        set(id, job);
    }
    void end(JobId id) {
        jobs.erase(id);
        plan.set(id, {});
    }
    JobId drawn(LimitStanding standing, unsigned nth) const {
        std::vector<JobId> ids;
        for (const auto& [id, job] : jobs) {
            if (job.standing == standing) {
                ids.push_back(id);
            }
        }
        return ids.empty() ? JobId{} : ids[nth % ids.size()];
    }
};

PartitionLimits some_limits() {
    PartitionLimits limits;
    for (auto* limit : {&limits.running_jobs, &limits.cores, &limits.user_running_jobs, &limits.user_cores}) {
        const auto drawn = draw::in_range(0, 9);
        if (drawn > 0 && drawn < 6) {
            *limit = drawn;
        }
    }
    return limits;
}

LimitedSite a_limited_site() {
    LimitedSite site;
    for (std::uint64_t id = 1; id <= 3; id++) {
        HandDown::ChildFacts facts{{"batch"}, draw::in_range(1, 9), 0, true};
        facts.partition = id < 3 ? "small" : "";
        site.children[JobId{id}] = facts;
    }
    const int lends = draw::in_range(0, 4);
    if (lends > 0) {
        HandDown::ChildFacts& lender = site.children[JobId{static_cast<std::uint64_t>(lends)}];
        lender.serves = {"debug"};
        lender.overflow = {"batch"};
    }
    site.set_limits(some_limits());
    return site;
}

using Step = std::tuple<int, unsigned, unsigned, unsigned>;

void take_step(LimitedSite& site, const Step& step, std::uint64_t id) {
    const auto& [kind, nth, cores, priority] = step;
    const auto each = [&site, which = nth](LimitStanding standing, auto act) {
        if (const JobId job = site.drawn(standing, which); job.value != 0) {
            act(job);
        }
    };
    if (kind < 5) {
        HandDown::Job job{LimitStanding::waits, {}, priority, cores, nth % 5 == 0 ? "debug" : "batch", false};
        job.user = nth % 3;
        site.set(JobId{id}, job);
    } else if (kind < 8) {
        each(LimitStanding::asked, [&](JobId job) { site.record(job); });
    } else if (kind < 11) {
        each(LimitStanding::ahead, [&](JobId job) { site.allocate(job); });
    } else if (kind < 12) {
        each(LimitStanding::busy, [&](JobId job) { site.end(job); });
    } else if (kind < 13) {
        site.set_limits(some_limits());
    } else {
        site.plan.tick();
    }
    if (nth % 2 == 0) {
        (void)site.carry_out();
    }
}

LimitedSite after_some_steps() {
    LimitedSite site = a_limited_site();
    const auto steps = draw::several([] {
        return Step{draw::in_range(0, 14), draw::in_range(0U, 30U), draw::in_range(1U, 4U), draw::in_range(1U, 6U)};
    });
    std::uint64_t id = 10;
    for (const Step& step : steps) {
        take_step(site, step, id++);
    }
    return site;
}

}  // namespace

// Mutant: modules/job-route/hand_down_pass.cpp: emplace(id, Objection{Objection::Kind::rules, {}}); => size();
TEST_CASE("limits of a partition: nothing starts beyond them, over any course of events", "[property]") {
    draw::property("also where they are lowered, and whatever the child chooses", [] { (void)after_some_steps(); });
}

// Mutant: modules/job-route/hand_down_tallies.cpp: return !tally.counts.hit( => return true || !tally.counts.hit(
// Mutant: modules/job-route/hand_down_pass.cpp: if (budgets_[holder].tally != npos) { => if (false) {
TEST_CASE("limits of a partition: its children have no more than may run", "[property]") {
    draw::property("when all is on record", [] {
        LimitedSite site = after_some_steps();
        site.settle();
        (void)site.carry_out();
        using S = LimitStanding;
        const LimitCounts busy = site.counts({S::busy});
        const LimitCounts all = site.counts({S::busy, S::ahead, S::asked});
        using Kind = weir::route::LimitHit::Kind;
        const std::pair<Kind, std::optional<std::int64_t>> limits[] = {
            {Kind::running_jobs, site.limits.running_jobs},
            {Kind::cores, site.limits.cores},
            {Kind::user_running_jobs, site.limits.user_running_jobs},
            {Kind::user_cores, site.limits.user_cores}};
        for (const auto& [kind, limit] : limits) {
            for (std::uint32_t user = 0; limit && user < 3; user++) {
                RC_ASSERT(all.count(kind, user) <= std::max(*limit, busy.count(kind, user)));
            }
        }
    });
}

// hand_down_limits_test.cpp has a site in which they had none, as fresh seeds found it.
// Mutant: modules/job-route/hand_down_tallies.cpp: add(kind.user, counted(budgets_[index], kind)) => add(kind.user, 9)
TEST_CASE("limits of a partition: nobody waits for a free place, and plans come to an end", "[property]") {
    draw::property("after some plans", [] {
        LimitedSite site = after_some_steps();
        for (int i = 0; i < 6; i++) {
            site.settle();
            (void)site.carry_out();
        }
        site.settle();
        RC_ASSERT(site.plan.plan(site.rules()).empty());
        using S = LimitStanding;
        const LimitCounts all = site.counts({S::busy, S::ahead});
        for (const auto& [child, facts] : site.children) {
            std::int64_t room = facts.cores;
            bool is_waited_for = false;
            for (const auto& [id, job] : site.jobs) {
                room -= job.child == child && job.standing == S::busy ? job.cores : 0;
                is_waited_for = is_waited_for || (job.child == child && job.standing == S::ahead);
            }
            for (const auto& [id, job] : site.jobs) {
                const bool is_served = facts.serves.front() == job.queue;
                const bool is_allowed = !all.hit(facts.limits, job.user, job.cores);
                RC_LOG() << "job " << id.value << ", child " << child.value << '\n';
                RC_ASSERT(
                    !(job.standing == S::waits && is_served && !is_waited_for && is_allowed && job.cores <= room));
            }
        }
    });
}
