// SPDX-License-Identifier: LGPL-3.0-only
// FCFS and EASY: hand cases of the reference semantics, and properties over whole random replays.
#include "libsched/policy/policy.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "libsched/resource/count_space.hpp"
#include "libsched/resource/resource_space.hpp"
#include "libsched/scheduler.hpp"
#include "libsched/sim/simulate.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;
using test::machine;
using test::secs;

namespace {

std::vector<std::int64_t> starts(const std::vector<SimJob>& jobs, std::int64_t cores, const Policy& policy) {
    std::vector<std::int64_t> out;
    const auto result = simulate(jobs, cores, policy);
    REQUIRE(result.has_value());
    for (const Instant start : *result) {
        out.push_back(static_cast<std::int64_t>(to_seconds(start)));
    }
    return out;
}
SimJob job(std::int64_t submit, std::int64_t run, std::int64_t limit, std::uint32_t cores) {
    return {0, at(submit), secs(run), secs(limit), cores};
}

}  // namespace

TEST_CASE("fcfs: stops at the first that does not fit") {
    CHECK(starts({job(0, 10, 10, 3), job(1, 5, 5, 2), job(2, 1, 1, 1)}, 4, Fcfs{}) ==
          std::vector<std::int64_t>{0, 10, 10});
}

TEST_CASE("easy: a job that ends exactly at the shadow time is backfilled, one second more is not") {
    CHECK(starts({job(0, 10, 10, 3), job(1, 5, 5, 4), job(2, 8, 8, 1)}, 4, Easy{}) ==
          std::vector<std::int64_t>{0, 10, 2});
    CHECK(starts({job(0, 10, 10, 3), job(1, 5, 5, 4), job(2, 9, 9, 1)}, 4, Easy{}) ==
          std::vector<std::int64_t>{0, 10, 15});
}

TEST_CASE("easy: extra cores are used up by those that run past the shadow time only") {
    // 10 cores, 6 used until 10; the head wants 8: 2 extra. The first long job takes both, the second must wait.
    CHECK(starts({job(0, 10, 10, 6), job(0, 5, 5, 8), job(0, 50, 50, 2), job(0, 50, 50, 1), job(0, 10, 10, 2)}, 10,
                 Easy{}) == std::vector<std::int64_t>{0, 10, 0, 15, 0});
}

TEST_CASE("easy: all that end in the same second come back together") {
    CHECK(starts({job(0, 10, 10, 2), job(0, 10, 10, 2), job(0, 5, 5, 3), job(0, 60, 60, 1)}, 5, Easy{}) ==
          std::vector<std::int64_t>{0, 0, 10, 0});
}

TEST_CASE("easy: an early end moves the reservation forward") {
    CHECK(starts({job(0, 3, 10, 3), job(1, 5, 5, 4), job(2, 8, 8, 1)}, 4, Easy{}) ==
          std::vector<std::int64_t>{0, 10, 2});
    CHECK(starts({job(0, 3, 10, 3), job(1, 5, 5, 4)}, 4, Easy{}) == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("policy: names, settings, and the way back") {
    for (const std::string_view name : policy_names()) {
        CHECK(name_of(policy_named(name).value()) == name);
    }
    for (const char* text : {"hybrid:depth=3", "hybrid:depth=all,backfill=greedy,metric=proc-seconds",
                             "easy:backfill=best-fit,reserve-after=44m", "first-fit:starve-after=2h"}) {
        CHECK(name_of(policy_named(text).value()) == text);
    }
    CHECK(name_of(policy_named("hybrid:depth=1").value()) == "easy");
    CHECK(name_of(policy_named("hybrid:depth=all").value()) == "conservative");
    CHECK(std::get<Backfill>(policy_named("easy:reserve-above=55").value()).reserve_above == 55);
}

TEST_CASE("policy: what is unknown is named, with what would be right") {
    const auto refusal = [](const char* text) { return policy_named(text).error().message; };
    CHECK(refusal("consevative") == "scheduling policy \"consevative\" is unknown; did you mean \"conservative\"?");
    CHECK(refusal("quantum") ==
          "scheduling policy \"quantum\" is unknown; there are fcfs, first-fit, easy, easy-sjf, hybrid, conservative, "
          "conservative-fw");
    CHECK(refusal("fcfs:depth=2") == "setting of fcfs \"depth\" is unknown; this policy has none");
    CHECK(refusal("hybrid:dept=2") == "setting of hybrid \"dept\" is unknown; did you mean \"depth\"?");
    CHECK(refusal("hybrid:depth=0") == "depth takes a whole number from 1 to 4294967295, not \"0\"");
    CHECK(refusal("hybrid:depth") == "setting \"depth\" of hybrid wants a value: depth=…");
    CHECK(refusal("easy:backfill=bestfit") == "backfill \"bestfit\" is unknown; did you mean \"best-fit\"?");
    CHECK(refusal("easy:reserve-after=16").find("\"16d\"") != std::string::npos);
    CHECK(refusal("easy:reserve-after=soon").find("reserve-after: ") == 0);
}

// Kills: an Fcfs that goes on after the first blocked job.
TEST_CASE("fcfs: nobody starts before one who was submitted earlier") {
    draw::property("starts are in order of submission", [] {
        const auto jobs = test::any_workload(8);
        const auto result = simulate(jobs, 8, Fcfs{});
        RC_ASSERT(result.has_value());
        RC_ASSERT(std::is_sorted(result->begin(), result->end()));
    });
}

// Kills: extra_ that is not reduced; `end < shadow || need <= free` in place of extra; a shadow without all ties.
TEST_CASE("easy: backfilling never delays the head's reservation") {
    draw::property("a head's estimate never moves back, and the head starts by it", [] {
        const auto jobs = test::any_workload(8);
        std::map<std::uint64_t, Instant> estimates;
        JobQueue<PendingJob> queue;
        CountSpace space(8);
        std::multimap<Instant, std::size_t> ends;
        std::vector<Instant> begun(jobs.size());
        std::size_t next = 0;
        while (next < jobs.size() || !ends.empty()) {
            Instant now = next < jobs.size() ? jobs[next].submit : never;
            now = ends.empty() ? now : std::min(now, ends.begin()->first);
            std::vector<QueueKey> arrived;
            while (!ends.empty() && ends.begin()->first == now) {
                const std::size_t i = ends.begin()->second;
                space.release(begun[i] + jobs[i].limit, jobs[i].cores);
                ends.erase(ends.begin());
            }
            for (; next < jobs.size() && jobs[next].submit == now; next++) {
                Request request;
                request.slots = jobs[next].cores;
                arrived.push_back({1, now, JobId{next}});
                queue.insert({arrived.back(), request, jobs[next].limit});
            }
            struct {
                std::map<std::uint64_t, Instant>* estimates;
                std::vector<PendingJob> gone;
                void started(const PendingJob& j, CountSpace::Taken) { gone.push_back(j); }
                void blocked(const PendingJob& j, const Blocked& why) {
                    RC_ASSERT(why.estimate.has_value());
                    const auto [place, is_new] = estimates->try_emplace(j.key.id.value, *why.estimate);
                    RC_ASSERT(is_new || *why.estimate <= place->second);
                    place->second = *why.estimate;
                }
                std::uint32_t blocked_min() const { return 1; }
            } sink{&estimates, {}};
            Easy{}.pass(queue, space, News{arrived, {}}, now, sink);
            for (const PendingJob& j : sink.gone) {
                const std::size_t i = j.key.id.value;
                if (const auto promise = estimates.find(i); promise != estimates.end()) {
                    RC_ASSERT(now <= promise->second);
                }
                queue.erase(j.key);
                begun[i] = now;
                ends.emplace(now + jobs[i].run, i);
            }
        }
        RC_ASSERT(queue.empty());
    });
}

// Kills: extra that long jobs do not use up; a head that takes cores free now before cores that come back.
TEST_CASE("easy: on nodes, one-core slots start exactly when they do on a count") {
    draw::property("simulate on nodes = simulate on a count", [] {
        const auto jobs = test::any_workload(12);
        RC_ASSERT(*simulate(jobs, machine(4, 3), Easy{}) == *simulate(jobs, 12, Easy{}));
        RC_ASSERT(*simulate(jobs, machine(3, 4), Fcfs{}) == *simulate(jobs, 12, Fcfs{}));
    });
}

// Kills: any space that gives more than it has.
TEST_CASE("easy: never more cores in use than there are") {
    draw::property("capacity holds", [] {
        const auto jobs = test::any_workload(8);
        const auto begun = *simulate(jobs, 8, Easy{});
        for (std::size_t k = 0; k < jobs.size(); k++) {
            std::uint32_t used = 0;
            for (std::size_t i = 0; i < jobs.size(); i++) {
                used += begun[i] <= begun[k] && begun[k] < begun[i] + jobs[i].run ? jobs[i].cores : 0;
            }
            RC_ASSERT(used <= 8U);
            RC_ASSERT(begun[k] >= jobs[k].submit);
        }
    });
}

namespace {

/// Starts what runs first, lets job 2 end, and returns what starts then.
std::vector<std::uint64_t> started_after_end(const char* policy, std::uint32_t nodes, std::uint32_t cores,
                                             const std::vector<PendingJob>& jobs, Instant instance_end = never) {
    Scheduler s(policy_named(policy).value());
    s.set_resources(test::machine(nodes, cores), IdSet::range(0, nodes - 1));
    s.set_instance_end(instance_end);
    for (const PendingJob& job : jobs) {
        REQUIRE(s.alloc(job).has_value());
    }
    REQUIRE(s.pass(test::at(0)).started.size() == 2);
    REQUIRE(s.free(JobId{2}, {}, true).has_value());
    std::vector<std::uint64_t> ids;
    for (const Scheduler::Start& start : s.pass(test::at(1)).started) {
        ids.push_back(start.id.value);
    }
    return ids;
}
PendingJob on_nodes(std::uint64_t id, std::uint32_t nodes, std::uint32_t cores, std::int64_t limit) {
    return {{1, test::at(0), JobId{id}}, {nodes, 1, cores, false}, test::secs(limit)};
}

}  // namespace

// Mutant: libsched/policy/backfill.hpp: return !space.may_start(*job); => return job == nullptr;
TEST_CASE("greedy: a job that fits no node is in no combination") {
    // Two nodes of 16 cores, of which each has 8 free: a slot of 16 cores is worth most and fits neither. Four slots of
    // 4 are worth more than one of 6 and two of 4, which are the first by their own worth.
    const auto slot = [](std::uint64_t id, std::uint32_t cores) { return on_nodes(id, 0, cores, 600); };
    CHECK(started_after_end("easy:backfill=greedy", 2, 16,
                            {on_nodes(1, 2, 8, 3600), on_nodes(2, 2, 8, 600), on_nodes(3, 2, 16, 3600), slot(4, 6),
                             slot(5, 16), slot(6, 4), slot(7, 4), slot(8, 4), slot(9, 4)}) ==
          std::vector<std::uint64_t>{6, 7, 8, 9});
}

// Mutant: libsched/policy/backfill.hpp: if (!is_best[i]) { => if (false) {
TEST_CASE("greedy: what the best combination leaves is tried after it") {
    // Two nodes with 4 free cores each: 3, 3 and 2 are the best of 8, but the 2 fit no node then; a job of 1 core does.
    CHECK(started_after_end("easy:backfill=greedy", 2, 8,
                            {on_nodes(1, 2, 4, 3600), on_nodes(2, 2, 4, 600), on_nodes(3, 2, 8, 3600),
                             on_nodes(4, 0, 3, 600), on_nodes(5, 0, 3, 600), on_nodes(6, 0, 2, 600),
                             on_nodes(7, 0, 1, 600)}) == std::vector<std::uint64_t>{4, 5, 7});
}

// Mutant: libsched/resource/resource_space.cpp: if (horizon_ <= shadow_) {  // all jobs end by then => if (false) {
TEST_CASE("greedy: where the instance ends before a reservation begins, no job is too long") {
    const std::vector<PendingJob> jobs{test::waiting(1, 4, 3600), test::waiting(2, 4, 600),  test::waiting(3, 8, 3600),
                                       test::waiting(4, 3, 600),  test::waiting(5, 2, 7200), test::waiting(6, 2, 7200)};
    CHECK(started_after_end("easy:backfill=greedy", 1, 8, jobs, test::at(1000)) == std::vector<std::uint64_t>{5, 6});
}

TEST_CASE("greedy: beside several reservations no job that would delay one is in the combination") {
    // Jobs 5 and 6 together are worth more than job 7, but job 5 would delay job 3, which waits for job 1.
    const std::vector<PendingJob> jobs{test::waiting(1, 4, 3600), test::waiting(2, 4, 600),  test::waiting(3, 8, 3600),
                                       test::waiting(4, 5, 3600), test::waiting(5, 2, 7200), test::waiting(6, 2, 600),
                                       test::waiting(7, 3, 600)};
    CHECK(started_after_end("hybrid:depth=2,backfill=greedy", 1, 8, jobs) == std::vector<std::uint64_t>{7});
}
