// SPDX-License-Identifier: LGPL-3.0-only
// A kill -9 between any two events, with whatever was not committed lost, must neither lose usage nor count it twice.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "modules/job-priority/state/memory_store.hpp"
#include "modules/job-priority/state/state_store.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr double end_of_time = 100000;

/// What the job-manager remembers: everything that happened, and which jobs it has purged.
using Timeline = std::vector<JobEvent>;

Timeline timeline(int jobs) {
    Timeline events;
    for (int n = 0; n < jobs; ++n) {
        const auto id = static_cast<FluxJobId>(n + 1);
        const std::uint32_t user = draw::element(alice, bob, carol, 9999U);
        double t = draw::in_range(0, 5000);
        const auto later = [&t] { return t += draw::in_range(1, 3000) + 0.25; };
        events.push_back(submitted(id, t, user));
        std::get<SubmitEvent>(events.back().what).request.wall_time = std::chrono::seconds(draw::in_range(60, 6000));
        std::get<SubmitEvent>(events.back().what).request.qos = draw::element<std::string>("", "scavenger");
        std::get<SubmitEvent>(events.back().what).request.amounts["gpus"] = draw::in_range(0, 3);
        events.push_back(eligible(id, later()));
        const int fate = draw::in_range(0, 4);  // waits, runs, freed, clean
        if (fate >= 1) {
            events.push_back(started(id, later(), draw::in_range(1, 100)));
            for (int downs = draw::in_range(0, 3); downs > 0; --downs) {
                const double from = later();
                events.push_back(down(id, from, later() - from));
                events.push_back(up(id, t));
            }
        }
        if (fate >= 2) {
            events.push_back(freed(id, later()));
        }
        if (fate >= 3) {
            events.push_back(cleaned(id, later()));
        }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
    return events;
}

/// The ways to count usage that a site may choose.
std::vector<Settings> ways_to_count() {
    std::vector<Settings> ways(4, settings());
    ways[1].billing.charging = Charging::at_dispatch;
    ways[1].billing.factors.qos["scavenger"] = 0.25;
    ways[2].decay = DecayKind::window;
    ways[2].window = {std::chrono::hours(1), 5, 0.5};
    ways[2].billing.weights = BillingWeights::parse("cpu=1.5,gres/gpu=8").value();
    ways[3].algorithm = "dynamic-user";
    ways[3].lsf.history.enable_hist_run_time = true;
    ways[3].half_life = std::chrono::minutes(20);  // several frames
    return ways;
}

/// The backlog after the first `count` events: job by job, in an order that is not the jobs' order in time.
void replay_backlog(PriorityService& service, const Timeline& events, std::size_t count, double t) {
    std::map<FluxJobId, std::vector<JobEvent>> jobs;
    for (std::size_t n = 0; n < count; ++n) {
        jobs[events[n].id].push_back(events[n]);
    }
    service.begin_backlog();
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
        service.add_backlog(job->second);
    }
    service.end_backlog(at(t));
}

void require_same(const PriorityService& got, const PriorityService& want) {
    for (const char* path : {"", "physics", "physics/lattice/@alice", "bio", "bio/@bob", "bio/@carol"}) {
        INFO(path);
        CHECK(charged(got, path, end_of_time) == charged(want, path, end_of_time));
        const auto node = want.accounting().tree().find(path);
        const auto same = got.accounting().tree().find(path);
        if (*path != '\0' && node && same) {
            CHECK(got.accounting().ledger().usage(*same, at(end_of_time)) ==
                  want.accounting().ledger().usage(*node, at(end_of_time)));
        }
    }
    CHECK(got.accounting().ledger().usage(unassociated, at(end_of_time)) ==
          want.accounting().ledger().usage(unassociated, at(end_of_time)));
    const Measured measured_got = measured_at(got, at(end_of_time));
    const Measured measured_want = measured_at(want, at(end_of_time));
    for (std::uint32_t index = 0; index < want.accounting().tree().size(); ++index) {
        const auto same = got.accounting().tree().find(want.accounting().tree().path(NodeId{index}));
        if (same) {
            CHECK(measured_got.usage.usage.at(same->value) == measured_want.usage.usage.at(index));
        }
        if (same && !measured_want.dynamic.empty()) {
            CHECK(measured_got.dynamic.at(same->value) == measured_want.dynamic.at(index));
        }
    }
    CHECK(measured_got.usage.unassociated == measured_want.usage.unassociated);
    CHECK(got.accounting().running().size() == want.accounting().running().size());
    CHECK(got.ranking().queue().size() == want.ranking().queue().size());
}

/// One life: from the store, the backlog of `from` events, then live up to `to`; commits where `commits` says so.
template <typename Store, typename Commits>
std::unique_ptr<PriorityService> life(Store& store, const Timeline& events, std::size_t from, std::size_t to,
                                      Commits commits, const Settings& with = settings()) {
    auto s = service(false, with);
    const auto warnings = s->restore(store.saved(), at(0));
    if (!warnings) {
        throw std::runtime_error(warnings.error().message);
    }
    if (s->trees().in_force().revision == 0) {
        put_tree(*s);
        static_cast<void>(store.apply(s->take_batch()));
    }
    replay_backlog(*s, events, from, 0);
    for (std::size_t n = from; n < to; ++n) {
        s->apply(events[n]);
        if (commits()) {
            static_cast<void>(store.apply(s->take_batch()));
        }
    }
    return s;
}

}  // namespace

// Kills the mutants "charged jobs are not remembered", "running jobs are not restored", "a charge is in the checkpoint
// and in the log", "the position moves before the commit"; of usage as the site counts it: "an end is not in the log",
// "a checkpoint leaves its log", "a job's bill is not restored", "LSF's frame is not restored"; "what a job held while
// the broker was down is taken off with every replay".
// Mutant: modules/job-priority/charges/accounting.cpp: found->second.start >= to || =>
TEST_CASE("replay: a kill at any place, any number of times, changes no digit") {
    draw::property("usage, totals and running jobs are those of a life without kill", [] {
        const Settings with = draw::element_of(ways_to_count());
        const Timeline events = timeline(draw::in_range(1, 12));
        MemoryStore untouched;
        const auto want = life(
            untouched, events, 0, events.size(), [] { return false; }, with);
        MemoryStore store;
        std::size_t place = 0;
        while (place < events.size()) {
            const std::size_t next =
                place + static_cast<std::size_t>(draw::in_range<std::size_t>(1, events.size() - place + 1));
            // The live stream may have begun anywhere before the kill.
            const std::size_t caught_up = static_cast<std::size_t>(draw::in_range<std::size_t>(place, next + 1));
            const int rate = draw::in_range(0, 4);
            auto killed = life(
                store, events, caught_up, next, [rate] { return draw::in_range(0, 4) < rate; }, with);
            if (draw::arbitrary<bool>()) {
                killed->log().want_checkpoint();
                store.apply(killed->take_batch());
            }
            place = next;
        }
        const auto got = life(
            store, events, events.size(), events.size(), [] { return false; }, with);
        require_same(*got, *want);
    });
}

TEST_CASE("replay: with the real state file, a kill before and after the commit of every event changes no digit") {
    std::string name = (std::filesystem::temp_directory_path() / "weir-replay-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(name.data());
    Timeline events;
    for (FluxJobId id = 1; id <= 5; ++id) {
        const double t = static_cast<double>(id) * 7;
        const std::uint32_t user = id % 2 == 0 ? bob : id == 3 ? carol : alice;
        for (JobEvent event : {submitted(id, t, user), eligible(id, t + 1), started(id, t + 2, 3), freed(id, t + 40),
                               cleaned(id, t + 41)}) {
            events.push_back(std::move(event));
        }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
    const Settings with = GENERATE(from_range(ways_to_count()));
    MemoryStore untouched;
    const auto want = life(
        untouched, events, 0, events.size(), [] { return false; }, with);
    for (const bool is_committed : {false, true}) {
        const std::string file = (folder / (is_committed ? "after" : "before")).string();
        for (std::size_t place = 0; place <= events.size(); ++place) {
            std::vector<std::string> warnings;
            StateStore store = std::move(*StateStore::open(file, warnings));
            auto s = life(
                store, events, place == 0 ? 0 : place - 1, place, [] { return false; }, with);
            if (is_committed || place % 3 == 0) {
                REQUIRE(store.apply(s->take_batch()));
            }
            if (place == events.size()) {
                require_same(*s, *want);
            }
        }
    }
    std::filesystem::remove_all(folder);
}

// Kills the mutant "untake() appends the failed batch's charges to a checkpoint that has them".
TEST_CASE("replay: batches that could not be written are written later, once") {
    draw::property("after failures and a restart the ledger is the same", [] {
        const Timeline events = timeline(draw::in_range(1, 8));
        MemoryStore store;
        const Settings with = draw::element_of(ways_to_count());
        auto s = service(false, with);
        put_tree(*s);
        s->begin_backlog();
        s->end_backlog(at(0));
        for (const JobEvent& event : events) {
            s->apply(event);
            StateBatch batch = s->take_batch();
            if (draw::arbitrary<bool>()) {
                store.apply(batch);
            } else {
                s->log().untake(std::move(batch));  // the disk was full
            }
        }
        store.apply(s->take_batch());
        auto again = service(false, with);
        RC_ASSERT(again->restore(store.saved(), at(0)).has_value());
        replay_backlog(*again, events, events.size(), 0);
        require_same(*again, *s);
    });
}

TEST_CASE("replay: jobs long forgotten are recognised by the floor") {
    auto s = ready_service();
    const auto jobs = static_cast<FluxJobId>(2 * ChargedRuns::kept + 10);
    std::vector<JobEvent> first;
    for (FluxJobId id = 1; id <= jobs; ++id) {
        const double t = static_cast<double>(id);
        const std::vector<JobEvent> all{submitted(id, t, alice), eligible(id, t), started(id, t, 1), freed(id, t + 0.5),
                                        cleaned(id, t + 0.5)};
        for (const JobEvent& event : all) {
            s->apply(event);
        }
        if (id == 1) {
            first = all;
        }
    }
    const auto before = charged(*s, "physics", 1e6);
    s->begin_backlog();
    s->add_backlog(first);
    s->end_backlog(at(1e6));
    CHECK(charged(*s, "physics", 1e6) == before);
}
