// SPDX-License-Identifier: LGPL-3.0-only
// The event loop: streams, interruption, impossible jobs, an order of the queue that changes.
#include "libsched/sim/simulate.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::secs;

namespace {

SimJob numbered_job(std::int64_t number, std::int64_t submit, std::int64_t run, std::uint32_t cores) {
    SimJob one;
    one.number = number;
    one.submit = at(submit);
    one.run = one.limit = secs(run);
    one.cores = cores;
    return one;
}

JobSource source_of(const std::vector<SimJob>& jobs) {
    return [&jobs, next = std::size_t{0}]() mutable -> Result<std::optional<SimJob>> {
        return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
    };
}

std::string refusal(const SimJob& bad) {
    const auto result = simulate(std::vector{numbered_job(1, 5, 1, 1), bad}, 8, Fcfs{});
    REQUIRE_FALSE(result.has_value());
    return result.error().message;
}

/// The user whose number is least goes first, and users change places at every pass.
struct Alternating : QueueOrder {
    std::vector<std::pair<JobId, SimJob>> waiting;
    std::uint32_t turn = 0;
    Instant wake = never;
    void submitted(const SimJob& one, JobId id, Instant) override { waiting.emplace_back(id, one); }
    void started(const SimJob& one, JobId id, Instant) override {
        std::erase_if(waiting, [&](const auto& w) { return w.first == id; });
        turn = one.user + 1;
    }
    void ended(const SimJob&, JobId, Instant) override {}
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        wake = now + secs(3);
        for (const auto& [id, one] : waiting) {
            changed.emplace_back(id, one.user == turn % 2 ? 2 : 1);
        }
    }
    Instant wakes() const override { return wake; }
};

/// Job 3 has priority 0 until second 10.
class HeldAtFirst final : public QueueOrder {
  public:
    void submitted(const SimJob& job, JobId id, Instant) override {
        told_.emplace_back(id, job.number == 3 ? priority_held : priority_min);
        held_ = job.number == 3 ? std::optional(id) : held_;
    }
    void started(const SimJob&, JobId, Instant) override {}
    void ended(const SimJob&, JobId, Instant) override {}
    void prioritize(Instant now, std::vector<std::pair<JobId, std::uint32_t>>& changed) override {
        if (held_ && now >= at(10)) {
            told_.emplace_back(*held_, priority_min);
            held_.reset();
        }
        changed.insert(changed.end(), told_.begin(), told_.end());
        told_.clear();
    }
    Instant wakes() const override { return held_ ? at(10) : never; }

  private:
    std::vector<std::pair<JobId, std::uint32_t>> told_;
    std::optional<JobId> held_;
};

}  // namespace

TEST_CASE("simulate: impossible jobs are named") {
    CHECK(refusal(numbered_job(77, 6, 1, 9)) == "job 77 wants 9 cores; the machine has 8");
    CHECK(refusal(numbered_job(77, 6, 1, 0)) == "job 77 asks for no cores");
    CHECK(refusal(numbered_job(77, 6, -1, 1)) == "job 77 has a negative run time or time limit");
    CHECK(refusal(numbered_job(77, 4, 1, 1)) == "job 77 was submitted before the job that precedes it");
    auto endless = numbered_job(77, 6, 1, 1);
    endless.run = Duration::max();
    CHECK(refusal(endless) == "job 77 would end after the end of time");
}

TEST_CASE("simulate: a reservation for a job of no time at all is kept free as any other") {
    const std::vector<SimJob> jobs{numbered_job(1, 0, 2, 2), numbered_job(2, 0, 3, 1), numbered_job(3, 0, 0, 3),
                                   numbered_job(4, 0, 0, 2), numbered_job(5, 0, 3, 1)};
    for (const Policy policy : {Policy(Easy{}), Policy(Backfill{2}), Policy(Backfill{Backfill::all})}) {
        CHECK(simulate(jobs, 4, policy).value() == std::vector{at(0), at(0), at(2), at(2), at(2)});
    }
}

// Ten cores. Job 1 takes 6 of them for 100 s and said 50; job 2 wants 8. At 45 job 3 (4 cores, 40 s) would delay the 8
// at 50, as far as anybody knows. At 60 job 1 is overdue: believed to end at any moment, with 2 cores to spare then:
// job 4 (2 cores) starts, job 3 does not.
TEST_CASE("simulate: of a job that runs longer than it requested nothing is known before") {
    std::vector<SimJob> jobs = {numbered_job(1, 0, 100, 6), numbered_job(2, 1, 50, 8), numbered_job(3, 45, 40, 4),
                                numbered_job(4, 60, 500, 2)};
    jobs[0].limit = secs(50);
    CHECK(simulate(jobs, 10, Easy{}).value() == std::vector{at(0), at(100), at(150), at(60)});
    jobs[0].limit = secs(100);
    CHECK(simulate(jobs, 10, Easy{}).value() == std::vector{at(0), at(100), at(45), at(85)});
}

// Of several nodes several reservations may stand in the way where a sum of cores does not, so they have one.
// Kills: a reservation that an overrun makes impossible and that nobody makes anew; cores taken twice; what is kept
// from now on taken before what is overdue has come back.
TEST_CASE("simulate: with overruns every job starts, never more than the machine runs, on cores as on nodes") {
    draw::property("overruns", [] {
        auto jobs = test::any_workload(6);
        const Duration longest = draw::element(secs(100), Duration::max());
        for (SimJob& one : jobs) {
            one.limit = draw::element(secs(1), std::max(one.limit, secs(1)), one.run / 2 + secs(1), longest);
        }
        for (const char* name :
             {"fcfs", "first-fit", "easy", "easy-sjf", "hybrid", "conservative", "conservative-fw"}) {
            const Policy policy = policy_named(name).value();
            const auto starts = simulate(jobs, 6, policy).value();
            for (std::size_t i = 0; i < jobs.size(); i++) {
                RC_ASSERT(starts[i] != never);
                std::uint32_t busy = 0;
                for (std::size_t j = 0; j < jobs.size(); j++) {
                    const bool runs = starts[j] <= starts[i] && starts[i] < starts[j] + jobs[j].run;
                    busy += runs ? jobs[j].cores : 0;
                }
                RC_ASSERT(busy <= 6);
            }
            RC_LOG() << name << "\n";
            const auto* backfill = std::get_if<Backfill>(&policy);
            const bool has_several =
                backfill == nullptr ? std::holds_alternative<KeptReservations>(policy) : backfill->depth > 1;
            RC_ASSERT(simulate(jobs, test::machine(1, 6), policy).value() == starts);
            if (!has_several) {
                RC_ASSERT(simulate(jobs, test::machine(6, 1), policy).value() == starts);
            }
        }
    });
}

TEST_CASE("simulate: the source's error is the replay's, and what started before stands") {
    std::vector<std::int64_t> started;
    std::int64_t next = 0;
    const auto source = [&]() -> Result<std::optional<SimJob>> {
        if (next == 3) {
            return Error{std::errc::io_error, "log:4: broken"};
        }
        next++;
        return std::optional(numbered_job(next, next * 10, 1, 1));
    };
    const auto result = simulate(4, Fcfs{}, source, [&](const Outcome& o) { started.push_back(o.job.number); });
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message == "log:4: broken");
    CHECK(started == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("simulate: can be stopped, and tells how far it came") {
    std::vector<SimJob> jobs;
    for (std::int64_t i = 0; i < 100; i++) {
        jobs.push_back(numbered_job(i, i * 10, 5, 1));
    }
    std::size_t outcomes = 0;
    SimControl control;
    control.every = 10;
    control.progress = [](const SimCounters& counters) { return counters.started < 20; };
    const auto result =
        simulate(4, Easy{}, source_of(jobs), [&](const Outcome&) { outcomes++; }, {.control = &control});
    REQUIRE(result.has_value());
    CHECK(result->interrupted);
    CHECK(result->started == outcomes);
    CHECK(result->started == 20);
    CHECK(result->submitted == 20);
    CHECK(result->now == at(195));
}

TEST_CASE("simulate: what it keeps grows with the jobs in the system, not with the log") {
    std::vector<SimJob> jobs(5000, numbered_job(1, 0, 1, 4));
    for (std::size_t i = 0; i < jobs.size(); i++) {
        jobs[i].submit = at(static_cast<std::int64_t>(i / 3 * 3));
    }
    const auto result = simulate(4, Fcfs{}, source_of(jobs), [](const Outcome&) {});
    REQUIRE(result.has_value());
    CHECK(result->ended == 5000);
    CHECK(result->in_system_max == 3);
}

TEST_CASE("simulate: an order's priorities hold before each pass, also where nothing else happens") {
    // One core; two users with three jobs each, all at once: they take turns.
    std::vector<SimJob> jobs;
    for (std::int64_t i = 0; i < 6; i++) {
        jobs.push_back(numbered_job(i, 0, 10, 1));
        jobs.back().user = i < 3 ? 0 : 1;
    }
    std::vector<std::int64_t> started;
    Alternating order;
    const auto result = simulate(1, Fcfs{}, source_of(jobs), [&](const Outcome& o) { started.push_back(o.job.number); },
                                 {.order = &order});
    REQUIRE(result.has_value());
    CHECK(started == std::vector<std::int64_t>{0, 3, 1, 4, 2, 5});
    CHECK(result->passes > 12);
}

// Kills: a job that was held when it came is no arrival once it is held no more.
TEST_CASE("simulate: a job that is held no more starts in room that was there all the time") {
    // Jobs 1 and 4 run on four of five cores, job 2 wants all and has its reservation; job 3 would fit beside them.
    const std::vector<SimJob> jobs{numbered_job(1, 0, 100, 3), numbered_job(2, 1, 10, 5), numbered_job(3, 1, 20, 1),
                                   numbered_job(4, 1, 50, 1)};
    for (const Policy policy : {Policy(Easy{}), Policy(Backfill{2}), Policy(Backfill{Backfill::all})}) {
        HeldAtFirst order;
        std::map<std::int64_t, Instant> starts;
        const auto result = simulate(5, policy, source_of(jobs),
                                     [&](const Outcome& o) { starts[o.job.number] = o.start; }, {.order = &order});
        REQUIRE(result.has_value());
        CHECK(starts == std::map<std::int64_t, Instant>{{1, at(0)}, {2, at(100)}, {3, at(10)}, {4, at(1)}});
    }
}

// Kills: a place that is the slot's; an outcome that is told twice or not at all.
TEST_CASE("simulate: every job of a stream has one outcome, in order of start") {
    draw::property("outcomes", [] {
        const auto jobs = test::any_workload(8);
        std::vector<int> seen(jobs.size(), 0);
        Instant last{};
        const auto result = simulate(8, Easy{}, source_of(jobs), [&](const Outcome& o) {
            RC_ASSERT(o.start >= last);
            RC_ASSERT(o.job.number == jobs[o.place].number);
            last = o.start;
            seen[o.place]++;
        });
        RC_ASSERT(result.has_value());
        RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    });
}
