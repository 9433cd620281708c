// SPDX-License-Identifier: LGPL-3.0-only
// What the ledger promises, against the closed formula in long double and against itself.
#include <catch2/catch.hpp>
#include <cmath>

#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

struct Job {
    std::uint32_t payer;  // index into the tree's users
    std::int64_t cores;
    std::int64_t from;  // seconds
    std::int64_t to;
};

struct Case {
    ShareTreePtr tree;
    std::vector<NodeId> users;
    std::vector<Job> jobs;
    Duration half_life;
    double span;  // seconds that hold all jobs

    Instant start(const Job& job) const { return second(static_cast<double>(job.from) * 1.000001); }
    Instant end(const Job& job) const { return second(static_cast<double>(job.to) * 1.000001); }
    NodeId payer(const Job& job) const { return users.empty() ? unassociated : users[job.payer % users.size()]; }
};

Case random_case(std::int64_t span_in_half_lives) {
    Case made;
    made.tree = std::make_shared<const ShareTree>(tree_of_random(random_lines()));
    for (std::uint32_t i = 1; i < made.tree->size(); ++i) {
        if (made.tree->kind(NodeId{i}) == NodeKind::user) {
            made.users.push_back(NodeId{i});
        }
    }
    made.half_life = std::chrono::seconds{draw::element_of(std::vector<int>{60, 3600, 604800, 31536000})};
    const std::int64_t span = span_in_half_lives * made.half_life.count() / 1000000;
    made.span = static_cast<double>(span) * 1.000001;
    const int count = draw::in_range(1, 20);
    for (int i = 0; i < count; ++i) {
        const std::int64_t from = draw::in_range<std::int64_t>(0, span);
        made.jobs.push_back({draw::in_range<std::uint32_t>(0, 1000), draw::in_range<std::int64_t>(1, 100000), from,
                             draw::in_range<std::int64_t>(from, span + 1)});
    }
    return made;
}

long double closed_formula(const Case& world, const Job& job, Instant now) {
    const auto worth = [&](Instant since) {
        return std::exp2(-static_cast<long double>((now - since).count()) / world.half_life.count());
    };
    const Instant end = std::min(now, world.end(job));
    const Instant start = std::min(now, world.start(job));
    return job.cores * world.half_life.count() / std::log(2.0L) * (worth(end) - worth(start));
}

UsageLedger played(const Case& world) {
    UsageLedger ledger{world.tree, world.half_life};
    for (const Job& job : world.jobs) {
        ledger.charge(world.payer(job), job.cores, world.start(job), world.end(job));
    }
    return ledger;
}

}  // namespace

// Kills: a snapshot that reads accounts on their own; post() that stops below the root.
TEST_CASE("ledger: a node's usage is the sum of its children's, at any time") {
    draw::property("conservation", [] {
        const Case world = random_case(draw::in_range(1, 40));
        const UsageLedger ledger = played(world);
        const Instant now = second(world.span * draw::in_range(1, 4));
        const UsageSnapshot snapshot = ledger.snapshot(now);
        for (std::uint32_t i = 0; i < world.tree->size(); ++i) {
            if (!world.tree->is_account(NodeId{i})) {
                continue;
            }
            CoreMicros usage = 0;
            SignedCoreMicros charged = 0;
            for (NodeId child : world.tree->children(NodeId{i})) {
                usage += snapshot.usage[child.value];
                charged += ledger.charged(child, now);
            }
            RC_ASSERT(snapshot.usage[i] == usage);
            RC_ASSERT(ledger.charged(NodeId{i}, now) == charged);
            const CoreMicros own = ledger.usage(NodeId{i}, now);
            RC_ASSERT((own > usage ? own - usage : usage - own) <= world.tree->size());
        }
    });
}

// Kills: a scale that rounds to whole half-lives; eight bits a frame taken for seven; late events taken as newest.
TEST_CASE("ledger: usage is the closed formula's, running jobs included, over ten years and more") {
    draw::property("closed formula", [] {
        const Case world = random_case(draw::element_of(std::vector<std::int64_t>{1, 7, 30, 600}));
        UsageLedger ledger{world.tree, world.half_life};
        const Instant now = second(world.span * draw::in_range(1, 100) / 100);
        long double expected = 0;
        for (const Job& job : world.jobs) {
            if (world.start(job) <= now) {
                ledger.start(world.payer(job), job.cores, world.start(job));
                expected += closed_formula(world, job, now);
            }
            if (world.end(job) <= now) {
                ledger.end(world.payer(job), job.cores, world.end(job));
            }
        }
        const NodeId whole = world.users.empty() ? unassociated : root_node;
        const long double got = static_cast<long double>(ledger.usage(whole, now));
        RC_ASSERT(std::abs(got - expected) <= 2 + 1e-12L * expected);
    });
}

// Kills: an event dated before the newest one taken as of the newest.
TEST_CASE("ledger: the order in which events arrive changes no bit") {
    draw::property("order", [] {
        Case world = random_case(7);
        struct Event {
            NodeId payer;
            std::int64_t rate;
            Instant at;
        };
        std::vector<Event> events;
        for (const Job& job : world.jobs) {
            events.push_back({world.payer(job), job.cores, world.start(job)});
            events.push_back({world.payer(job), -job.cores, world.end(job)});
        }
        const Instant newest = second(world.span);
        UsageLedger first{world.tree, world.half_life};
        first.charge(unassociated, 1, newest, newest);  // sets the frame, so that none ends in between
        UsageLedger other = first;
        for (const Event& event : events) {
            first.start(event.payer, event.rate, event.at);
        }
        for (std::size_t i = events.size(); i > 1; --i) {
            std::swap(events[i - 1], events[draw::in_range<std::size_t>(0, i)]);
        }
        for (const Event& event : events) {
            other.end(event.payer, -event.rate, event.at);
        }
        RC_ASSERT(first.save() == other.save());
    });
}

// Kills: a charge that is rounded when posted.
TEST_CASE("ledger: cutting a charge in two changes no bit") {
    draw::property("split", [] {
        const Case world = random_case(7);
        UsageLedger whole{world.tree, world.half_life};
        whole.charge(unassociated, 1, second(world.span), second(world.span));
        UsageLedger parts = whole;
        for (const Job& job : world.jobs) {
            whole.charge(world.payer(job), job.cores, world.start(job), world.end(job));
            const Duration length = world.end(job) - world.start(job);
            const Instant cut = world.start(job) + Duration{draw::in_range<std::int64_t>(0, length.count() + 1)};
            const std::int64_t some = draw::in_range<std::int64_t>(0, job.cores + 1);
            parts.charge(world.payer(job), job.cores, cut, world.end(job));
            parts.charge(world.payer(job), some, world.start(job), cut);
            parts.charge(world.payer(job), job.cores - some, world.start(job), cut);
        }
        RC_ASSERT(whole.save() == parts.save());
    });
}

// Kills: a saved state without its frame, without rates, or rounded to whole units.
TEST_CASE("ledger: save, restore, go on equals going on") {
    draw::property("restart", [] {
        const Case world = random_case(draw::in_range(1, 40));
        UsageLedger ledger{world.tree, world.half_life};
        const std::size_t cut = draw::in_range<std::size_t>(0, world.jobs.size());
        for (std::size_t i = 0; i < cut; ++i) {
            ledger.start(world.payer(world.jobs[i]), world.jobs[i].cores, world.start(world.jobs[i]));
        }
        auto restored = UsageLedger::restore(world.tree, ledger.save());
        RC_ASSERT(restored.has_value());
        for (UsageLedger* one : {&ledger, &*restored}) {
            for (std::size_t i = 0; i < cut; ++i) {
                one->end(world.payer(world.jobs[i]), world.jobs[i].cores, world.end(world.jobs[i]));
            }
            for (std::size_t i = cut; i < world.jobs.size(); ++i) {
                one->charge(world.payer(world.jobs[i]), world.jobs[i].cores, world.start(world.jobs[i]),
                            world.end(world.jobs[i]));
            }
        }
        RC_ASSERT(ledger.save() == restored->save());
        RC_ASSERT(ledger.snapshot(second(world.span)).usage == restored->snapshot(second(world.span)).usage);
    });
}

// Kills: rebind() that forgets removed leaves, or loses what runs there.
TEST_CASE("ledger: a new tree loses nothing of the whole") {
    draw::property("rebind", [] {
        const Case world = random_case(draw::in_range(1, 20));
        UsageLedger ledger = played(world);
        ledger.start(world.payer(world.jobs[0]), 5, world.start(world.jobs[0]));
        const Instant now = second(world.span);
        const auto whole = [&](const UsageLedger& one) {
            return one.charged(root_node, now) + one.charged(unassociated, now);
        };
        const SignedCoreMicros charged = whole(ledger);
        const CoreMicros usage = ledger.usage(root_node, now) + ledger.usage(unassociated, now);
        ledger.rebind(std::make_shared<const ShareTree>(tree_of_random(random_lines())), now);
        RC_ASSERT(whole(ledger) == charged);
        RC_ASSERT(ledger.rate(root_node) + ledger.rate(unassociated) == 5);
        const CoreMicros after = ledger.usage(root_node, now) + ledger.usage(unassociated, now);
        RC_ASSERT((after > usage ? after - usage : usage - after) <= 2);
        ledger.rebind(world.tree, now);
        RC_ASSERT(whole(ledger) == charged);
    });
}

// Kills: a conversion that leaves out what runs; exp2 without its second-order term.
TEST_CASE("ledger: a new half-life changes no usage of the moment") {
    draw::property("half-life", [] {
        const Case world = random_case(draw::in_range(1, 20));
        UsageLedger ledger = played(world);
        const Instant now = second(world.span);
        ledger.start(world.payer(world.jobs[0]), 5, world.start(world.jobs[0]));
        const UsageSnapshot before = ledger.snapshot(now);
        const int seconds = draw::element_of(std::vector<int>{0, 1, 60, 604800, 31536000});
        ledger.set_half_life(std::chrono::seconds{seconds}, now);
        const UsageSnapshot after = ledger.snapshot(now);
        for (std::size_t i = 0; i < before.usage.size(); ++i) {
            const auto a = static_cast<long double>(before.usage[i]);
            RC_ASSERT(std::abs(static_cast<long double>(after.usage[i]) - a) <= 1 + 1e-16L * a);
        }
    });
}
