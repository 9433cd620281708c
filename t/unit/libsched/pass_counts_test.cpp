// SPDX-License-Identifier: LGPL-3.0-only
// What a pass over 100,000 waiting jobs looks at, counted: jobs and chunks of the queue, steps and chunks of the
// profile.
#include <catch2/catch.hpp>

#include "libsched/resource/count_space.hpp"
#include "libsched/scheduler.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

using Job = CountJob;

struct Sink {
    std::vector<JobId>& gone;
    void started(const Job& job, const CountSpace::Taken&) { gone.push_back(job.key.id); }
    void blocked(const Job&, const Blocked&) {}
    std::uint32_t told() const { return 0; }
};

constexpr std::uint64_t depth = 100'000;

/// A thousand jobs run on 4096 of 4100 cores until as many different instants; the queue's head wants half of all,
/// behind it others of 5 to 20 cores and up to a day, one of them small enough.
struct World {
    CountSpace space{4100};
    JobQueue<Job> queue;
    std::vector<QueueKey> arrived;

    World() {
        std::uint64_t id = 0;
        for (int i = 0; i < 1024; i++) {
            space.start(Job{{1, at(0), JobId{id++}}, test::secs(1000 + 37 * i), 4}, at(0));
        }
        wait({{2, at(1), JobId{id++}}, test::secs(86'400), 2050});
        for (std::uint64_t i = 0; i < depth - 2; i++) {
            wait({{1, at(2), JobId{id++}},
                  test::secs(static_cast<std::int64_t>(60 + i * 7919 % 86'000)),
                  static_cast<std::uint32_t>(5 + i % 16)});
        }
        wait({{1, at(3), JobId{id++}}, test::secs(60), 1});
    }
    void wait(const Job& job) {
        REQUIRE(queue.insert(job));
        arrived.push_back(job.key);
    }
    struct Counts {
        std::uint64_t queue;
        std::uint64_t profile;
        std::size_t started;
    };
    Counts pass(const Policy& policy, Instant now) {
        const std::uint64_t queue_before = queue.considered();
        const std::uint64_t profile_before = space.profile().looked_at();
        std::vector<JobId> gone;
        std::sort(arrived.begin(), arrived.end());
        std::visit(
            [&](const auto& one) {
                one.pass(queue, space, News{arrived, std::nullopt}, now, Sink{gone});
            },
            policy);
        arrived.clear();
        for (const JobId id : gone) {
            std::optional<QueueKey> key;
            queue.walk([&](const Job& job) {
                key = job.key.id == id ? std::optional(job.key) : key;
                return !key;
            });
            REQUIRE(queue.erase(*key));
        }
        return {queue.considered() - queue_before, space.profile().looked_at() - profile_before, gone.size()};
    }
};

}  // namespace

TEST_CASE("EASY over 100,000 waiting jobs looks at the chunks of the queue, then at arrivals alone") {
    World world;
    const auto full = world.pass(Easy{}, at(10));
    CHECK(full.started == 1);        // the small one at the end of the queue
    CHECK(full.queue < depth / 20);  // chunks of 48 to 316 jobs, and jobs of those that hold what fits
    CHECK(full.profile < 200);       // one shadow time among 1024 ends
    for (std::uint64_t i = 0; i < 10; i++) {
        world.wait({{1, at(11), JobId{depth * 2 + i}}, test::secs(60), i < 2 ? 1U : 5U});
    }
    const auto arrivals = world.pass(Easy{}, at(11));
    CHECK(arrivals.started == 2);
    CHECK(arrivals.queue == 0);  // they are found by their keys: nobody else is looked at
    CHECK(arrivals.profile == 0);
    const auto quiet = world.pass(Easy{}, at(12));
    CHECK(quiet.started == 0);
    CHECK(quiet.queue + quiet.profile == 0);
}

TEST_CASE("conservative stops where nobody behind can start; who could is behind as many reservations") {
    World world;
    // The one job that fits stands last: all before it get a reservation, each by a search in a profile that grows with
    // them, to two steps a job.
    JobQueue<Job>::Place last{};
    REQUIRE(world.queue.next_fitting(last, {4, 4, Duration::max()}) != nullptr);
    const Job small = *world.queue.at(last);
    REQUIRE(world.queue.erase(small.key));
    const auto none = world.pass(Backfill{.depth = Backfill::all}, at(10));
    CHECK(none.started == 0);
    CHECK(none.queue < depth / 20);  // nobody fits: the chunks say so, and no reservation is made
    CHECK(none.profile < 200);
    // With one that fits in place 2000 the 2000 before it get one.
    Job early = small;
    early.key = {1, at(2), JobId{1024 + 2000}};
    std::optional<QueueKey> there;
    world.queue.walk([&](const Job& job) {
        there = job.key.id == early.key.id ? std::optional(job.key) : there;
        return !there;
    });
    REQUIRE(there);
    REQUIRE(world.queue.erase(*there));
    REQUIRE(world.queue.insert(early));
    world.space.clear_reservations();
    world.space.reservations().stand = false;
    const auto some = world.pass(Backfill{.depth = Backfill::all}, at(10));
    CHECK(some.started == 1);
    CHECK(some.queue < 2000 + 2 * depth / 20);
    CHECK(some.profile < 2000 * 1500);  // a search each, among up to 5000 steps: holes that are too short are many
}
