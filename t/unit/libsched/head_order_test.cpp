// SPDX-License-Identifier: LGPL-3.0-only
// The head of a queue that sorts by the values sent: its order against a full sort of all jobs, and how little is sent.
#include "libsched/priority/head_order.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

PrioritySettings weights() {
    PrioritySettings settings;
    settings.weights = {};
    settings.weights[index_of(Factor::wait)] = 400;
    settings.weights[index_of(Factor::fairshare)] = 1000;
    settings.weights[index_of(Factor::user)] = 90;
    settings.wait_max = std::chrono::seconds(200);
    return settings;
}

/// The engine, the head and the queue that sorts by values; jobs by id.
struct World {
    PriorityEngine engine{weights()};
    HeadOrder head;
    std::map<std::uint64_t, PriorityEngine::Slot> slots;
    std::set<std::uint64_t> held_back;
    std::map<std::uint64_t, std::uint32_t> values;  // of the other queue; a job's first is its number
    std::vector<double> factors{0.2, 0.5, 0.5, 0.9};
    Instant now = at(0);
    std::size_t sent = 0;

    explicit World(std::size_t depth) : head(depth) {}

    bool may_start(std::uint64_t id) const {
        const int urgency = engine.inputs(slots.at(id)).urgency;
        return urgency > 0 && urgency < 31 && held_back.count(id) == 0;
    }
    void put(std::uint64_t id) {
        if (held_back.count(id) == 0) {
            head.put(engine, slots.at(id), engine.inputs(slots.at(id)).queue, now);
        }
    }
    void set_number(std::uint64_t id, std::uint32_t number) {
        head.set_number(slots.at(id), number);
        if (head.value(slots.at(id)) == 0) {
            values[id] = number;
        }
    }
    void insert(const JobInputs& job) {
        slots[job.id.value] = engine.insert(job);
        put(job.id.value);
        set_number(job.id.value, static_cast<std::uint32_t>(1 + job.id.value % 7));
    }
    void erase(std::uint64_t id) {
        head.forget(slots.at(id));
        engine.remove(slots.at(id));
        slots.erase(id);
        values.erase(id);
        held_back.erase(id);
    }
    void pass() {
        for (const HeadOrder::Send& send : head.pass(engine, now, factors)) {
            if (slots.count(send.id.value) != 0) {
                sent++;
                values[send.id.value] = send.value == 0 ? head.number(send.slot) : send.value;
            }
        }
    }
    std::int64_t fine(std::uint64_t id) const { return engine.fine_priority(slots.at(id), now, factors); }
    /// Jobs that may start, of one queue or of all, as their priorities sort them. O(jobs log jobs).
    std::vector<std::uint64_t> sorted(int queue) const {
        std::vector<std::pair<std::int64_t, QueueKey>> keys;
        for (const auto& [id, slot] : slots) {
            const JobInputs job = engine.inputs(slot);
            if (may_start(id) && (queue < 0 || job.queue == queue)) {
                keys.push_back({-fine(id), {0, job.submit, job.id}});
            }
        }
        std::sort(keys.begin(), keys.end());
        std::vector<std::uint64_t> ids;
        std::transform(keys.begin(), keys.end(), std::back_inserter(ids),
                       [](const auto& k) { return k.second.id.value; });
        return ids;
    }
    /// The same as the other queue has them.
    std::vector<std::uint64_t> as_sent() const {
        std::vector<QueueKey> keys;
        for (const auto& [id, slot] : slots) {
            if (may_start(id)) {
                keys.push_back({values.at(id), Instant{}, JobId{id}});
            }
        }
        std::sort(keys.begin(), keys.end());
        std::vector<std::uint64_t> ids;
        std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const auto& k) { return k.id.value; });
        return ids;
    }
    /// The first `depth` jobs of each queue, in the order of all.
    std::vector<std::uint64_t> expected() const {
        std::set<std::uint64_t> firsts;
        for (int queue = 0; queue < 2; queue++) {
            const auto ids = sorted(queue);
            firsts.insert(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(head.depth(), ids.size())));
        }
        auto ids = sorted(-1);
        std::erase_if(ids, [&](std::uint64_t id) { return firsts.count(id) == 0; });
        return ids;
    }
};

JobInputs any_job(std::uint64_t id, Instant now, int queues) {
    JobInputs in;
    in.id = JobId{id};
    in.submit = at(draw::in_range(0, 3));
    in.eligible = now - std::chrono::seconds(draw::in_range(-30, 300));
    in.association = draw::in_range(0U, 5U);
    in.queue = static_cast<std::uint16_t>(draw::in_range(0, queues));
    in.urgency = draw::element_of(std::vector<std::uint8_t>{16, 16, 16, 1, 30, 0, 31});
    return in;
}

/// Whether the other queue's first jobs are the expected ones; jobs whose priorities differ by a unit of rounding may
/// be in either order.
void check_head(const World& world) {
    const auto expected = world.expected();
    const auto as_sent = world.as_sent();
    RC_ASSERT(as_sent.size() >= expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
        if (as_sent[i] != expected[i]) {
            RC_ASSERT(std::abs(world.fine(as_sent[i]) - world.fine(expected[i])) <= 2);
        }
    }
}

}  // namespace

// Kills: a job that left the head keeps a value among those of the head; a held or limited job keeps its place in the
// head; the values of two jobs that swapped are kept; a new job does not displace the last of the head; a slot's next
// job has the value of the one before it; a job that begins to age, or ends, is compared with the terms it had; the
// head of one queue is the head of all; a factor's change moves only jobs that were put again; a job that the numbers
// have among those of the head is overlooked; a job that left the head keeps its value above a head without values.
// Mutant: libsched/priority/head_order.cpp: return listed != 0; => return true;
// Mutant: libsched/priority/head_order.cpp: first > 0 && rank[first - 1] < next => first > 0 && rank[first - 1] != none
// Mutant: libsched/priority/head_order.cpp: !have_all ? 0 : => false ? 0 :
TEST_CASE("head order: whatever happens, the other queue's first jobs are the true first, in their order") {
    draw::property("after each pass, the scheduler starts the true first of the jobs that may start", [] {
        World world(draw::in_range<std::size_t>(1, 7));
        const int queues = draw::in_range(1, 3);
        // Numbers that have nothing to do with the order, or those of the time when the job came.
        const bool have_sense = draw::arbitrary<bool>();
        const auto number = [&](std::uint64_t id) {
            return have_sense ? std::max(1U, world.engine.priority(world.slots.at(id), world.now, world.factors))
                              : draw::in_range(1U, 8U);
        };
        std::uint64_t next = 1;
        const auto pick = [&] {
            return std::next(world.slots.begin(), draw::in_range<int>(0, static_cast<int>(world.slots.size())))->first;
        };
        const int steps = draw::in_range(1, 60);
        for (int step = 0; step < steps; step++) {
            const int what = draw::in_range(0, 14);
            if (what < 5 || world.slots.empty()) {
                world.insert(any_job(next, world.now, queues));
                world.set_number(next, std::min(number(next), behind_head_max));
                next++;
            } else if (what < 7) {  // the other queue starts its first, or another one ends
                const auto waiting = world.as_sent();
                world.erase(what == 5 || waiting.empty() ? pick() : waiting.front());
            } else if (what < 9) {  // ranks swap
                std::swap(world.factors[draw::in_range<std::size_t>(0, 4)],
                          world.factors[draw::in_range<std::size_t>(0, 4)]);
            } else if (what == 9) {  // edited, held, expedited, released
                const std::uint64_t id = pick();
                JobInputs job = any_job(id, world.now, queues);
                job.submit = world.engine.inputs(world.slots.at(id)).submit;
                world.engine.update(world.slots.at(id), job);
                world.put(id);
                world.set_number(id, std::min(number(id), behind_head_max));
            } else if (what == 10) {  // a limit holds it back, or no more
                const std::uint64_t id = pick();
                if (world.held_back.erase(id) == 0) {
                    world.held_back.insert(id);
                    world.head.remove(world.slots.at(id));
                } else {
                    world.put(id);
                }
            } else if (what == 11) {
                world.now += std::chrono::seconds(draw::in_range(0, 100));
                if (draw::arbitrary<bool>()) {
                    world.head.refresh(world.engine, world.now);
                }
            } else if (what == 12) {
                world.head.set_depth(draw::in_range<std::size_t>(1, 7));
            } else {
                world.head.forget_values();
                for (auto& [id, value] : world.values) {
                    value = world.head.number(world.slots.at(id));
                }
            }
            world.pass();
            check_head(world);
        }
    });
}

// Kills: what began to wait at this instant is taken for what does not age; a job that ends to age, or begins to,
// between two refreshes is compared by the terms that it had.
TEST_CASE("head order: jobs that came, or were edited, at different times are compared as of one instant") {
    World world(2);
    const auto job = [](std::uint64_t id, Instant eligible) {
        JobInputs in;
        in.id = JobId{id};
        in.submit = eligible;
        in.eligible = eligible;
        in.urgency = 16;
        return in;
    };
    world.insert(job(1, at(0)));  // has waited for 0 s
    world.now = at(10);
    world.insert(job(2, at(5)));  // has waited for 5 s
    world.insert(job(3, at(20)));
    world.pass();
    CHECK(world.as_sent() == std::vector<std::uint64_t>{1, 2, 3});
    world.engine.update(world.slots.at(3), [&] {
        JobInputs in = job(3, at(20));
        in.urgency = 17;  // three units, which are a wait of 1.6 s
        return in;
    }());
    world.put(3);
    world.now = at(218);  // the first has waited for as long as counts, the third still gains
    world.pass();
    CHECK(world.as_sent().front() == 1);
    world.now = at(219);
    world.pass();
    CHECK(world.as_sent().front() == 3);
}

TEST_CASE("head order: a pass after which nothing changed sends nothing") {
    World world(4);
    for (std::uint64_t id = 1; id <= 20; id++) {
        JobInputs job;
        job.id = JobId{id};
        job.association = static_cast<std::uint32_t>(id % 4);
        world.insert(job);
    }
    world.pass();
    CHECK(world.sent == 4);
    world.pass();
    CHECK(world.sent == 4);
}

// Kills: a value for a job whose number has it at its place; values that are never given up.
// Mutant: libsched/priority/head_order.cpp: if (2 * count > head_.size()) { => if (count > 0) {
// Mutant: libsched/priority/head_order.cpp: = wanted_[i] != 0 ? i + 1 : count; => = head_.size();
TEST_CASE("head order: where the numbers sort the head nothing is sent, also after ranks swapped and swapped back") {
    constexpr std::size_t depth = 8;
    World world(depth);
    std::uint64_t next = 1;
    const auto come = [&] {
        JobInputs job;
        job.id = JobId{next};
        job.submit = at(0) + std::chrono::milliseconds(next);
        job.eligible = never;
        job.association = static_cast<std::uint32_t>(next % 2);
        job.urgency = static_cast<std::uint8_t>(6 + next * 7 % 11);
        world.insert(job);
        world.set_number(next, world.engine.priority(world.slots.at(next), at(0), job.association == 0 ? 0.5 : 1.));
        next++;
    };
    const auto start = [&](int jobs) {
        for (int i = 0; i < jobs; i++) {
            CHECK(world.as_sent().front() == world.sorted(-1).front());
            world.erase(world.as_sent().front());
            come();
            world.pass();
        }
    };
    world.factors = {0.5, 1.};
    while (next < 400) {
        come();
    }
    world.pass();
    start(100);
    CHECK(world.sent == 0);
    world.factors = {1., 0.5};
    world.pass();
    CHECK(world.sent == depth);
    start(20);
    const std::size_t values = world.sent;
    CHECK(values > depth);
    world.factors = {0.5, 1.};
    world.pass();
    CHECK(world.sent == values + depth);  // those of the other association have their numbers again
    start(100);
    CHECK(world.sent == values + depth);
    JobInputs urgent = world.engine.inputs(world.slots.at(world.sorted(-1)[2]));
    urgent.urgency = 29;  // its number is old
    world.engine.update(world.slots.at(urgent.id.value), urgent);
    world.put(urgent.id.value);
    world.pass();
    CHECK(world.sent == values + depth + 1);
    start(50);
    CHECK(world.sent == values + depth + 1);
}

// Kills: the whole head is sent when one job enters it; jobs behind the head are sent.
TEST_CASE("head order: draining a deep queue sends each job once, and a swap of ranks at most twice the head") {
    constexpr std::size_t depth = 8;
    constexpr std::uint64_t jobs = 3000;
    World world(depth);
    for (std::uint64_t id = 1; id <= jobs; id++) {
        JobInputs job;
        job.id = JobId{id};
        job.submit = at(0);
        job.eligible = never;
        job.association = static_cast<std::uint32_t>(id % 3);
        job.urgency = static_cast<std::uint8_t>(6 + id * 7 % 11);
        world.insert(job);
    }
    world.factors = {1. / 3, 2. / 3, 1.};
    world.pass();
    std::size_t swaps = 0;
    for (std::uint64_t started = 0; started < jobs; started++) {
        const auto first = world.as_sent().front();
        CHECK(world.fine(first) == world.fine(world.sorted(-1).front()));
        world.erase(first);
        if (started % 100 == 99) {
            std::rotate(world.factors.begin(), world.factors.begin() + 1, world.factors.begin() + 3);
            swaps++;
        }
        world.pass();
    }
    CHECK(world.sent <= jobs + 2 * depth * swaps);
}

// Kills: jobs that are equal but for some milliseconds of waiting are in the order of their rounding.
TEST_CASE("head order: of equal jobs that age the one that came first is first, whenever they were put") {
    World world(8);
    PrioritySettings settings = weights();
    settings.wait_max = std::chrono::hours(168);
    world.engine.configure(settings);
    for (std::uint64_t id = 1; id <= 200; id++) {
        JobInputs job;
        job.id = JobId{id};
        job.submit = at(0) + std::chrono::milliseconds(10 * id);
        job.eligible = job.submit;
        job.association = 4;
        job.urgency = 16;
        world.now = at(10) + std::chrono::milliseconds(id * 7919 % 1000);
        world.insert(job);
    }
    world.now = at(20);
    for (std::uint64_t id = 1; id <= 200; id++) {
        world.pass();
        CHECK(world.as_sent().front() == id);
        world.erase(world.as_sent().front());
    }
}

// Kills: values that run out at one end are clamped, so that two jobs are equal.
TEST_CASE("head order: when no value is left between two jobs, or at an end, all of the head get others") {
    World world(2);
    const auto job = [](std::uint64_t id, int urgency) {
        JobInputs in;
        in.id = JobId{id};
        in.eligible = never;
        in.association = 4;
        in.urgency = static_cast<std::uint8_t>(urgency);
        return in;
    };
    world.insert(job(1, 30));
    world.insert(job(2, 1));
    world.pass();
    for (std::uint64_t id = 3; id < 60; id++) {  // each between the first and the one before it
        world.insert(job(id, 16));
        world.pass();
        CHECK(world.as_sent().front() == 1);
        CHECK(world.as_sent()[1] == world.sorted(-1)[1]);
        world.engine.update(world.slots.at(id), job(id, 2));
        world.put(id);
        world.pass();
    }
}
