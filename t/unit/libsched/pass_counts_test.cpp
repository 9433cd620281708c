// SPDX-License-Identifier: LGPL-3.0-only
// What a pass over 100,000 waiting jobs looks at, counted: jobs and chunks of the queue, steps and chunks of the
// profile; and what each query over nodes looks at as more and more jobs run.
#include <bit>
#include <catch2/catch.hpp>

#include "libsched/resource/count_space.hpp"
#include "libsched/resource/resource_space.hpp"
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
    std::uint32_t blocked_min() const { return 0; }
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
            space.start(Job{{1, at(0), JobId{id++}}, 4, test::secs(1000 + 37 * i)}, at(0));
        }
        wait({{2, at(1), JobId{id++}}, 2050, test::secs(86'400)});
        for (std::uint64_t i = 0; i < depth - 2; i++) {
            wait({{1, at(2), JobId{id++}},
                  static_cast<std::uint32_t>(5 + i % 16),
                  test::secs(static_cast<std::int64_t>(60 + i * 7919 % 86'000))});
        }
        wait({{1, at(3), JobId{id++}}, 1, test::secs(60)});
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
    CHECK(full.started == 1);         // the small one at the end of the queue
    CHECK(full.queue < depth / 500);  // groups of 16 chunks of 79 jobs or more, and what holds the one that fits
    CHECK(full.profile < 200);        // one shadow time among 1024 ends
    for (std::uint64_t i = 0; i < 10; i++) {
        world.wait({{1, at(11), JobId{depth * 2 + i}}, i < 2 ? 1U : 5U, test::secs(60)});
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
    CHECK(none.queue < depth / 500);  // nobody fits: the groups say so, and no reservation is made
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
    CHECK(some.queue < 2000 + 2 * depth / 500);
    CHECK(some.profile < 2000 * 1500);  // a search each, among up to 5000 steps: holes that are too short are many
}

namespace {

/// What each query over 64 nodes of 64 cores looks at, nodes and steps, while `running` jobs hold all of the first 60
/// nodes. They end one after another, in an order that leaves no node free before most have ended.
struct Looks {
    std::uint64_t first = 0;   ///< a reservation beside none
    std::uint64_t second = 0;  ///< beside another
    std::uint64_t start = 0;   ///< of a job that fits beside both
    std::uint64_t kept = 0;    ///< a place for a policy that keeps places itself
};
Looks looks(std::uint32_t running) {
    ResourceSpace space(ResourcePool(test::machine(64, 64), IdSet::range(0, 63)));
    const auto looked_at = [&] { return space.plan().looked_at() + space.profile().looked_at(); };
    for (std::uint32_t i = 0; i < running; i++) {
        REQUIRE(space.start(test::waiting(i, 60 * 64 / running, 1000 + i * 7 % running), at(0)));
    }
    const auto exclusive = [](std::uint64_t id, std::uint32_t nodes) {
        return PendingJob{{1, at(0), JobId{id}}, {nodes, 1, 64, true}, test::secs(50)};
    };
    Looks looks;
    const auto count = [&](std::uint64_t& one, auto&& query) {
        const std::uint64_t before = looked_at();
        query();
        one = looked_at() - before;
    };
    count(looks.kept, [&] { REQUIRE(space.earliest(exclusive(running, 20), at(1)).at < never); });
    count(looks.first, [&] { REQUIRE(space.reserve(exclusive(running, 32), at(1))); });
    count(looks.second, [&] { REQUIRE(space.reserve(exclusive(running + 1, 48), at(1))); });
    count(looks.start, [&] { REQUIRE(space.start(test::waiting(running + 2, 100, 10), at(1))); });
    return looks;
}

}  // namespace

TEST_CASE("nodes: what a query looks at grows with the square of the logarithm of the running jobs") {
    for (const std::uint32_t running : {240U, 480U, 960U, 1920U, 3840U}) {
        CAPTURE(running);
        const Looks counts = looks(running);
        // Each halving of the ends looks at every node, and there halves the ends of that node.
        const auto halvings = [](std::uint32_t n) { return static_cast<std::uint64_t>(std::bit_width(n)); };
        const std::uint64_t most = 64 * (halvings(running) + 4) * (halvings(running / 60) + 2);
        CHECK(counts.first < most);
        CHECK(counts.second < most);
        CHECK(counts.kept < most);
        CHECK(counts.start < 64 * 8);  // one look: whatever runs
    }
}
