// SPDX-License-Identifier: LGPL-3.0-only
// Properties of the whole route under any order of messages, lost links, restarts of either module and deaths of
// children: nothing is lost, nothing runs twice, and the parent's job ends as the child's did.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "t/unit/draws.hpp"
#include "t/unit/job_route/world.hpp"

using weir::route::test::Event;
using weir::route::test::Instance;
using weir::route::test::LocalJob;
using weir::route::test::ParentJob;
using weir::route::test::World;

namespace {

std::uint64_t pick(const std::map<std::uint64_t, Instance>& children, unsigned which) {
    return std::next(children.begin(), which % children.size())->first;
}

std::uint64_t pick_job(const World& world, unsigned which) {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, job] : world.jobs) {
        if (!job.is_host) {
            ids.push_back(id);
        }
    }
    return ids.empty() ? 0 : ids[which % ids.size()];
}

/// One command: a third are faults and people's wishes, the rest is the world going on by single steps, in any order.
void step(World& world, unsigned what, unsigned whom) {
    const std::uint64_t child = pick(world.children, whom);
    const std::uint64_t job = pick_job(world, whom);
    // clang-format off
    switch (what) {
        case 0: case 1: case 2: case 3: world.submit(whom % 2 == 0 ? "batch" : "debug"); break;
        case 4: if (job != 0) { world.cancel(job); } break;
        case 5: if (job != 0) { world.set_urgency(job, static_cast<int>(whom % 3 * 16)); } break;
        case 6: world.drop_link(child); break;
        case 7: world.restart_link(child); break;
        case 8: world.restart_table(); break;
        case 9: world.kill_child(child, whom); break;
        case 10: world.spawn(whom % 2 == 0 ? "batch" : "debug"); break;
        case 11: world.shut_down(child); break;
        case 12: case 13: world.connect(child); break;
        case 44: case 45: if (!world.children.at(child).is_alive) { world.spawn_on_state_of(child); } break;
        case 46: world.kill_broker(child, whom); break;
        case 47: world.reboot(child); break;
        case 48: world.kill_parent(whom % 4, whom % 2 == 0); break;
        case 49: case 52: world.tick(); break;
        case 53: case 54: if (job != 0) { world.decide(job, 10 + whom, whom % 3 == 0); } break;
        case 50: world.children.at(child).is_stopped = world.children.at(child).is_alive; break;
        case 51: world.children.at(child).is_stopped = false; break;
        case 55: world.children.at(child).refusals += whom; break;
        case 14: case 15: world.step_journal(); break;
        case 16: case 17: world.step_tap(); break;
        case 18: world.step_fetch(); world.step_priority(); break;
        case 19: world.step_up(child); break;
        case 20: world.step_down(child); break;
        case 21: world.step_local_journal(child); break;
        case 22: world.step_ingest(child); break;
        case 23: world.step_op(child); break;
        case 24: world.send_report(child); break;
        case 25: world.step_alloc(child); break;
        case 26: world.step_finish(child); break;
        default: for (unsigned i = 0; i <= whom; i++) { world.step_anything(); } break;
    }
    // clang-format on
}

using Command = std::pair<unsigned, unsigned>;

/// Some hundred commands: who is meant is drawn small, so that the same few instances and jobs meet again.
std::vector<Command> a_life() {
    return draw::several([] { return Command{draw::in_range(0U, 56U), draw::in_range(0U, 9U)}; }, 6 * draw::length());
}

World lived(const std::vector<Command>& commands) {
    World world;
    world.spawn("batch");
    world.spawn("debug");
    for (const auto& [what, whom] : commands) {
        step(world, what, whom);
    }
    return world;
}

/// Until nothing happens any more but by the end of a job that is a child.
void rest(World& world) {
    for (std::int64_t i = 0; i < 3 * World::patience; i++) {
        world.drain();
        world.tick();
    }
}

/// Held jobs are released and every queue gets a child that stays, on the state of a dead one if there is any: from
/// here on every job has somewhere to go.
void settle(World& world) {
    for (auto& [id, child] : world.children) {
        child.is_stopped = false;
        child.refusals = 0;
    }
    for (const auto& [id, job] : world.jobs) {
        if (!job.is_host && job.urgency == 0) {
            world.set_urgency(id, 16);
        }
        if (!job.is_host && job.is_limited) {
            world.decide(id, job.rank, false);
        }
    }
    std::vector<std::uint64_t> dead;
    std::set<std::string> served;
    for (const auto& [id, child] : world.children) {
        if (!child.is_alive && !child.jobs.empty()) {
            dead.push_back(id);
        }
        if (child.is_alive || !child.jobs.empty()) {
            served.insert(world.jobs.at(id).facts.queue);
        }
    }
    for (const std::uint64_t id : dead) {
        world.end_host(id);
        world.spawn_on_state_of(id);
    }
    for (const char* queue : {"batch", "debug"}) {
        if (served.count(queue) == 0) {
            world.spawn(queue);
        }
    }
    rest(world);
    for (const auto& [id, job] : world.jobs) {
        if (!job.is_host && job.state < ParentJob::State::inactive && !job.has(Event::Kind::alloc)) {
            world.violations.push_back("job " + std::to_string(id) + " waits for a child that is lost");
        }
    }
    for (const auto& [id, child] : world.children) {
        if (!child.is_alive) {
            world.end_host(id);
        }
    }
    rest(world);
}

bool was_moved(const ParentJob& job) {
    std::set<std::uint64_t> holders;
    for (const auto& event : job.log) {
        if (event.kind == weir::route::JournalEvent::Kind::route) {
            holders.insert(event.child);
        }
    }
    return holders.size() > 1;
}

}  // namespace

// Kills: giving a dead child's allocated job to another; `go` before the allocation is on record above; submitting a
// job again that the child knows; a second local copy getting `go`; taking an old copy's `returned` for the new one's.
TEST_CASE("route: nothing runs twice", "[property]") {
    draw::property("whatever is lost in between", [] {
        World world = lived(a_life());
        settle(world);
        RC_CLASSIFY(std::any_of(world.jobs.begin(), world.jobs.end(),
                                [](const auto& job) { return job.second.failure == "child-lost"; }),
                    "a job lost with its child");
        RC_CLASSIFY(
            std::any_of(world.jobs.begin(), world.jobs.end(), [](const auto& job) { return was_moved(job.second); }),
            "a job given to a second child");
        RC_ASSERT(world.violations == std::vector<std::string>{});
    });
}

// Kills: forgetting a job in a dead child; not sending again what a lost link swallowed; acknowledging before the
// plugin has it; a child that forgets a job before the parent knows its end; not settling jobs of children that died
// unseen.
TEST_CASE("route: every job comes to an end", "[property]") {
    draw::property("once there are children that stay", [] {
        World world = lived(a_life());
        settle(world);
        for (const auto& [id, job] : world.jobs) {
            if (!job.is_host) {
                RC_LOG() << "job " << id << '\n';
                RC_ASSERT(job.state == ParentJob::State::inactive);
                RC_ASSERT(job.status.has_value() || !job.failure.empty());
            }
        }
    });
}

// Kills: mirroring a status to the wrong job; finish after lost; a failure told of the wrong job; child-lost for a job
// that never started in a child; an unasked cancel in a child taken for the user's.
TEST_CASE("route: the parent's job ends as the child's", "[property]") {
    draw::property("or says why not", [] {
        World world = lived(a_life());
        settle(world);
        for (const auto& [id, job] : world.jobs) {
            if (job.is_host) {
                continue;
            }
            if (job.status) {
                RC_ASSERT(world.finished_as.count(id) == 1U);
                RC_ASSERT(*job.status == world.finished_as.at(id));
            } else {
                const bool was_started = world.starts.count(id) == 1U;
                const bool had_alloc = std::any_of(job.log.begin(), job.log.end(), [](const auto& event) {
                    return event.kind == weir::route::JournalEvent::Kind::alloc;
                });
                RC_LOG() << "job " << id << " failed: " << job.failure << '\n';
                RC_ASSERT((job.failure == "cancel" && (job.is_cancelled || was_started)) ||
                          (job.failure == "child-lost" && had_alloc) ||
                          (job.failure == "exec" && world.failed.count(id) == 1U));
            }
        }
    });
}

TEST_CASE("route: a recall that the parent's module forgot is not taken for the user's cancel") {
    // job-route takes job 104 back from its child; before that is on record it is loaded again, and attaches the child.
    World world =
        lived({{0, 0}, {10, 0}, {0, 0}, {8, 0}, {12, 0}, {27, 4}, {12, 2}, {27, 5}, {0, 0}, {27, 2}, {8, 0}, {12, 0}});
    settle(world);
    CHECK(world.violations == std::vector<std::string>{});
    for (const auto& [id, job] : world.jobs) {
        CHECK(job.failure.empty());
    }
}

TEST_CASE("route: a job that left SCHED before its allocation was on record is with its child after a restart") {
    // A limit takes job 102 back while its child allocates it; then job-route is loaded again.
    World world = lived({{0, 0},  {0, 3}, {27, 4}, {27, 6}, {0, 3},  {12, 0}, {0, 0},  {27, 4}, {0, 1},  {14, 0},
                         {27, 7}, {0, 0}, {0, 3},  {27, 2}, {27, 3}, {53, 0}, {53, 7}, {24, 0}, {27, 7}, {48, 0}});
    settle(world);
    CHECK(world.violations == std::vector<std::string>{});
    for (const auto& [id, job] : world.jobs) {
        CHECK((job.is_host || (job.state == ParentJob::State::inactive && job.failure.empty())));
    }
}

TEST_CASE("route: `complete` of a lost session lets no job start before the better ones of the next") {
    World world;
    const std::uint64_t child = world.spawn("debug");
    const auto let_the_parent_work = [&] {
        while (world.step_journal() || world.step_tap() || world.step_fetch() || world.step_up(child)) {
        }
    };
    world.submit("debug");
    world.connect(child);
    let_the_parent_work();
    while (world.step_down(child)) {
    }
    CHECK(world.children.at(child).ingest.size() == 1U);  // and `complete` has come
    world.decide(world.submit("debug"), 20, false);
    let_the_parent_work();
    CHECK(world.children.at(child).down.size() == 1U);  // the better job
    world.drop_link(child);
    world.connect(child);
    let_the_parent_work();
    world.step_ingest(child);
    CHECK_FALSE(world.step_alloc(child));
    world.drain();
    CHECK(world.violations == std::vector<std::string>{});
    CHECK(world.starts.size() == 2U);
}

// Kills: not cancelling in the child what the parent took back or ended; a duplicate that is never disowned.
TEST_CASE("route: children keep nothing behind", "[property]") {
    draw::property("in any child that lives", [] {
        World world = lived(a_life());
        settle(world);
        for (const auto& [id, child] : world.children) {
            for (const auto& [local, job] : child.jobs) {
                RC_ASSERT(!child.is_alive || job.state == LocalJob::State::ended);
            }
            RC_ASSERT(!child.is_alive || child.link.job_count() == 0U);
        }
    });
}

// Kills: a changed priority that is not sent to the child that has the job; one that is lost with a link or a restart
// of either side and not sent again; a copy that stays in a child though a limit holds its job back.
TEST_CASE("route: a child looks at the jobs in its parent's order", "[property]") {
    draw::property("at rest, whatever happened before", [] {
        World world = lived(a_life());
        world.is_full = true;
        for (auto& [id, child] : world.children) {
            child.is_stopped = false;
        }
        world.drain();
        for (const auto& [id, child] : world.children) {
            for (const std::uint64_t local : world.order_of(child)) {
                const std::uint64_t job = child.jobs.at(local).upstream;
                const auto view = world.table.find(weir::route::JobId{job});
                RC_LOG() << "job " << job << " in child " << id << '\n';
                if (child.is_alive && view && view->child.value == id && world.jobs.at(job).urgency != 0) {
                    RC_ASSERT(child.given.count(job) == 1U);
                    RC_ASSERT(child.given.at(job) == world.jobs.at(job).priority);
                    RC_ASSERT(!world.jobs.at(job).is_limited);
                }
            }
        }
    });
}

TEST_CASE("route: without faults every job runs once and succeeds", "[property]") {
    draw::property("in the queue that it asked for", [] {
        const int count = draw::in_range(0, 40);
        World world;
        world.spawn("batch");
        world.spawn("debug");
        for (int i = 0; i < count; i++) {
            world.submit(i % 3 == 0 ? "batch" : "debug");
        }
        world.drain();
        for (const auto& [id, job] : world.jobs) {
            if (!job.is_host) {
                RC_ASSERT(job.status.has_value());
                RC_ASSERT(world.starts.at(id) == 1);
            }
        }
    });
}
