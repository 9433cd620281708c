// SPDX-License-Identifier: LGPL-3.0-only
// The queue's index against a look at every job: with small chunks and groups, so that short histories make many.
#include "libsched/job_queue.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "libsched/resource/count_space.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

using SmallQueue = JobQueue<CountJob, 4, 2>;
using Summary = SmallQueue::Traits::Summary;
using Model = std::map<QueueKey, CountJob>;

/// The first of the model that fits from `from` on; nullptr also where a held one comes first.
const CountJob* first_fitting(const Model& model, const QueueKey& from, const Opening& opening) {
    for (auto it = model.lower_bound(from); it != model.end(); ++it) {
        const std::uint64_t cores = it->second.cores;
        if (cores <= opening.free && (it->second.limit <= opening.slack || cores <= opening.extra)) {
            return it->first.priority == priority_held ? nullptr : &it->second;
        }
    }
    return nullptr;
}

std::optional<JobId> id_of(const CountJob* job) {
    return job != nullptr ? std::optional(job->key.id) : std::nullopt;
}

/// Sizes about the bounds of the classes, limits about the round ones and just beside them.
CountJob any_count_job(std::uint64_t id, std::uint64_t random) {
    const auto priority = static_cast<std::uint32_t>(random % 5);
    const auto cores = static_cast<std::uint32_t>(1 + random / 5 % 9 + (random / 50 % 8 == 0 ? 60 : 0));
    const auto seconds = static_cast<std::int64_t>(random / 400 % 4 * 3600 + random / 1600 % 3);
    const Duration limit = test::secs(seconds) + Duration{static_cast<std::int64_t>(random / 4800 % 2)};
    return {{priority, at(static_cast<std::int64_t>(id / 3)), JobId{id}}, cores, limit};
}

}  // namespace

// Kills: regroup() that gives a group only the chunk at its front, or only the one at its back; insert_at() that does
// not tell the group; summarize() that leaves the group as it was; a size class too low; limits rounded up; a group
// skipped where the chunks of the one before are; rekey() that leaves the groups as they were.
TEST_CASE("queue: the next one that fits is the one that a look at every job finds") {
    draw::property("same as the model", [] {
        SmallQueue queue;
        Model model;
        std::uint64_t id = 0;
        for (int steps = draw::in_range(0, 300); steps > 0; steps--) {
            const int kind = draw::element(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4);
            const auto random = draw::in_range<std::uint64_t>(0, 1'000'000'000);
            if (kind == 0) {
                const CountJob job = any_count_job(id++, random);
                RC_ASSERT(queue.insert(job));
                model.emplace(job.key, job);
            } else if (kind == 1 && !model.empty()) {
                const auto gone = std::next(model.begin(), static_cast<std::ptrdiff_t>(random % model.size()));
                RC_ASSERT(queue.erase(gone->first));
                model.erase(gone);
            } else if (kind == 2) {
                const std::uint64_t free = random % 8 == 0 ? 65 : random % 11;
                const Opening opening{free, random / 70 % (free + 1),
                                      test::secs(static_cast<std::int64_t>(random / 5000 % 4 * 3600 + random % 3))};
                const auto from =
                    model.empty()
                        ? model.end()
                        : std::next(model.begin(), static_cast<std::ptrdiff_t>(random / 20'000 % model.size()));
                auto place = from == model.end() ? queue.begin() : queue.after(from->first);
                const CountJob* expected = first_fitting(model,
                                                         from == model.end() || std::next(from) == model.end()
                                                             ? QueueKey{0, at(9'999'999), JobId{}}
                                                             : std::next(from)->first,
                                                         opening);
                RC_ASSERT(id_of(queue.next_fitting(place, opening)) == id_of(expected));
                if (expected != nullptr) {
                    RC_ASSERT(queue.at(place)->key == expected->key);
                }
                auto begin = queue.begin();
                RC_ASSERT(id_of(queue.next_fitting(begin, opening)) ==
                          id_of(first_fitting(model, QueueKey{priority_expedited, Instant::min(), JobId{}}, opening)));
            } else if (kind == 3) {
                const std::uint64_t cores = random % 11;
                RC_ASSERT(queue.any_within(cores) == std::any_of(model.begin(), model.end(), [&](const auto& entry) {
                              return entry.second.cores <= cores;
                          }));
            } else if (kind == 4) {
                Model rekeyed;
                const auto change = [random = random](CountJob& job) {
                    job.key.priority = static_cast<std::uint32_t>((job.key.id.value * 7919 + random) % 5);
                };
                queue.rekey(change);
                for (auto& [key, job] : model) {
                    CountJob changed = job;
                    change(changed);
                    rekeyed.emplace(changed.key, changed);
                }
                model = std::move(rekeyed);
            }
        }
        RC_ASSERT(queue.size() == model.size());
    });
}

// Kills: remove() that asks for the limit alone whether a summary still holds.
TEST_CASE("queue: the smallest that left is not asked for, though a shorter one of its class stays") {
    SmallQueue queue;
    const CountJob small{{1, at(1), JobId{1}}, 5, test::secs(3600)};
    REQUIRE(queue.insert(small));
    REQUIRE(queue.insert({{1, at(2), JobId{2}}, 6, test::secs(60)}));
    CHECK(queue.any_within(5));
    REQUIRE(queue.erase(small.key));
    CHECK_FALSE(queue.any_within(5));
    CHECK(queue.any_within(6));
}

// Kills: a chunk or a group that is not made anew when it was looked at for nothing; a group that fits nobody and is
// entered all the same.
TEST_CASE("queue: what was looked at for nothing is not looked at again") {
    JobQueue<CountJob> queue;
    constexpr std::uint64_t depth = 20'000;
    for (std::uint64_t id = 0; id < depth; id++) {
        // Every 50th is small and short, so that every chunk has one.
        queue.insert({{1, at(0), JobId{id}}, id % 50 == 0 ? 1U : 8U, test::secs(id % 50 == 0 ? 60 : 3600)});
    }
    for (std::uint64_t id = 0; id < depth; id += 50) {
        REQUIRE(queue.erase({1, at(0), JobId{id}}));
    }
    const auto looked_at = [&] {
        const std::uint64_t before = queue.considered();
        auto place = queue.begin();
        CHECK(queue.next_fitting(place, {4, 4, test::secs(600)}) == nullptr);
        return queue.considered() - before;
    };
    CHECK(looked_at() > depth * 9 / 10);  // all chunks are said to have one, none has
    CHECK(looked_at() < depth / 400);     // the groups alone
}

// Kills: a group that lost a chunk to its neighbour, or whose chunk was made anew, and does not say that it is stale.
TEST_CASE("queue: a group says what its chunks say, or that it is stale and less") {
    draw::property("bound", [] {
        SortedChunks<CountJob, SmallQueue::Traits, 4, 2> jobs;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int kind = draw::in_range(0, 4);
            const auto random = draw::in_range<std::uint64_t>(0, 1'000'000'000);
            const CountJob job = any_count_job(random % 90, random);
            if (kind < 2) {
                jobs.insert(job);
            } else if (kind == 2 && !jobs.empty()) {
                const auto& items = jobs.chunks()[random % jobs.chunks().size()].items;
                jobs.erase(QueueKey(items[random / 90 % items.size()].key));
            } else if (!jobs.empty()) {
                jobs.summarize(random % jobs.chunks().size());
            }
            const std::size_t groups = jobs.chunks().size() > 2 ? (jobs.chunks().size() + 1) / 2 : 0;
            RC_ASSERT(jobs.groups().size() == groups);
            for (std::size_t g = 0; g < jobs.groups().size(); g++) {
                Summary chunks;
                for (std::size_t c = 2 * g; c < std::min(2 * g + 2, jobs.chunks().size()); c++) {
                    chunks.add(jobs.chunks()[c].summary);
                }
                const Summary& group = jobs.groups()[g];
                // Said of a stale group: never more than its chunks say.
                const auto holds = [&](auto said, auto exact) {
                    return group.is_stale ? said <= exact : said == exact;
                };
                for (std::size_t i = 0; i < Summary::sizes; i++) {
                    RC_ASSERT(holds(group.limit[i], chunks.limit[i]));
                }
                RC_ASSERT(holds(group.cores, chunks.cores));
            }
        }
    });
}

// Kills: a power of two taken one bit too late; rounding that falls at 2048 s.
TEST_CASE("queue: a summary's limits and sizes rise with what they stand for") {
    draw::property("monotone", [] {
        const auto a = draw::arbitrary<std::uint64_t>();
        const auto b = draw::arbitrary<std::uint64_t>();
        const auto [less, more] = std::minmax({a >> (b % 64), b >> (a % 64)});
        RC_ASSERT(Summary::size_of(less) <= Summary::size_of(more));
        RC_ASSERT(Summary::bounded(less) <= Summary::bounded(more));
        const auto limit = [](std::uint64_t count) { return Duration{static_cast<std::int64_t>(count >> 1)}; };
        RC_ASSERT(Summary::rounded_down(limit(less)) <= Summary::rounded_down(limit(more)));
        RC_ASSERT(Summary::rounded_down(limit(less)) >= 0);
    });
    CHECK(Summary::rounded_down(test::secs(2047)) < Summary::rounded_down(test::secs(2048)));
    CHECK(Summary::rounded_down(test::secs(3599)) < Summary::rounded_down(test::secs(3600)));
    CHECK(Summary::rounded_down(test::secs(86'399)) < Summary::rounded_down(test::secs(86'400)));
    CHECK(Summary::size_of(4) < Summary::size_of(5));
    CHECK(Summary::size_of(6) < Summary::size_of(7));
    CHECK(Summary::size_of(1'000'000) == Summary::sizes - 1);
}
