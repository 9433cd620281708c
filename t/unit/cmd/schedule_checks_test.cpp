// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/demo/schedule_checks.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::cmd;
using namespace std::chrono_literals;

namespace {

Instant after(Duration d) {
    return Instant{1'000'000s} + d;
}

/// Of chem/@carol, for the queue batch and run there, with one priority from its submission on.
JobRecord run_job(std::int64_t cores, Duration submit, Duration alloc, Duration free, std::int64_t priority = 100) {
    static std::uint64_t last = 0;
    JobRecord record;
    record.id = ++last;
    record.user = "carol";
    record.account = "chem";
    record.queue = record.partition = "batch";
    record.cores = cores;
    record.requested = 1h;
    record.submit = after(submit);
    record.alloc = record.recorded = after(alloc);
    record.free = after(free);
    record.priorities = {{after(submit), priority}};
    return record;
}
JobRecord debug_job(JobRecord job) {
    job.queue = job.partition = "debug";
    return job;
}
/// A clock that runs as fast as the real one.
constexpr Slack no_delay{1s, 0s};
const std::vector<Partition> lending{{"debug", "sched-weir-fcfs", 2, 4, {"batch"}}, {"batch", "sched-weir-easy", 4, 4}};

}  // namespace

TEST_CASE("schedule: the limits of a share tree's text, by path") {
    const auto limits = limits_of(
        "\"chem\" = { shares = 3, cores_max = 80 }\n\"chem/@carol\" = { running_jobs_max = [4, 10] }\n\"bio\" = 1\n");
    REQUIRE(limits.size() == 2);
    CHECK(limits[0].path == "chem");
    CHECK(limits[0].limit == Limit{LimitKind::cores, 80, {}});
    CHECK(limits[1].path == "chem/@carol");
    CHECK(limits[1].limit.hard == 10);
}

TEST_CASE("schedule: a limit counts what runs at once in all partitions") {
    const std::vector<NodeLimit> limits{{"chem", {LimitKind::cores, 8, {}}},
                                        {"chem/@carol", {LimitKind::running_jobs, 2, {}}}};
    std::vector<JobRecord> jobs{run_job(4, 0s, 0s, 10s), debug_job(run_job(4, 0s, 5s, 20s)), run_job(4, 0s, 10s, 20s)};
    const Check check = check_limits(limits, jobs);
    CHECK(check.holds);
    CHECK(check.detail == "chem at most 8 of 8 cores and carol at most 2 of 2 running jobs");
}

TEST_CASE("schedule: a core or a job above a limit for a microsecond is found") {
    const std::vector<NodeLimit> limits{{"chem", {LimitKind::cores, 8, {}}},
                                        {"chem/@carol", {LimitKind::running_jobs, 2, {}}}};
    CHECK_FALSE(check_limits(limits, {run_job(4, 0s, 0s, 10s), debug_job(run_job(5, 0s, 10s - 1us, 20s))}).holds);
    const Check jobs = check_limits(limits, {run_job(1, 0s, 0s, 9s), run_job(1, 0s, 0s, 9s), run_job(1, 0s, 8s, 9s)});
    CHECK_FALSE(jobs.holds);
    CHECK(jobs.detail == "chem at most 3 of 8 cores and carol at most 3 of 2 running jobs");
}

TEST_CASE("schedule: a job that ran in another queue's partition is counted") {
    JobRecord borrower = run_job(8, 0s, 0s, 10s);
    borrower.partition = "debug";
    const Check check = check_overflow(lending, {borrower, run_job(16, 0s, 0s, 10s)}, no_delay);
    CHECK(check.holds);
    CHECK(check.detail == "1 ran in the partition of another queue; the longest wait beside free cores was 0.0 s");
}

TEST_CASE("schedule: a job that waits beside lent cores is found") {
    const JobRecord all = run_job(16, 0s, 0s, 100s);
    CHECK(check_overflow(lending, {all, run_job(8, 0s, 3s, 9s)}, no_delay).holds);
    const Check check = check_overflow(lending, {all, run_job(8, 0s, 3s + 1us, 9s)}, no_delay);
    CHECK_FALSE(check.holds);
    CHECK(check.detail.find(" of carol waited 3.0 s beside free cores of debug") != std::string::npos);
    CHECK(check_overflow(lending, {all, run_job(8, 0s, 4s, 9s)}, {1s, 125ms}).holds);
}

TEST_CASE("schedule: cores are lent only while enough are free and no job of the partition's own waits") {
    const JobRecord all = run_job(16, 0s, 0s, 100s);
    const JobRecord waiting = run_job(8, 0s, 50s, 60s);
    CHECK(check_overflow(lending, {all, waiting, debug_job(run_job(1, 0s, 0s, 47s))}, no_delay).holds);
    CHECK(check_overflow(lending, {all, waiting, debug_job(run_job(2, 0s, 47s, 48s))}, no_delay).holds);
    CHECK_FALSE(check_overflow(lending, {all, waiting, debug_job(run_job(1, 0s, 0s, 46s))}, no_delay).holds);
    CHECK_FALSE(check_overflow(lending, {all, waiting, debug_job(run_job(2, 4s, 47s, 48s))}, no_delay).holds);
    CHECK(check_overflow(lending, {all, run_job(9, 0s, 50s, 60s)}, no_delay).holds);  // larger than debug
    CHECK(check_overflow(lending, {debug_job(run_job(8, 0s, 0s, 90s)), debug_job(run_job(8, 0s, 50s, 60s))}, no_delay)
              .holds);  // batch does not lend
}

TEST_CASE("schedule: a job that a limit holds back does not wait for cores") {
    JobRecord limited = run_job(8, 0s, 50s, 60s, 0);
    CHECK(check_overflow(lending, {run_job(16, 0s, 0s, 99s), limited}, no_delay).holds);
    limited.priorities.push_back({after(48s), 100});
    CHECK(check_overflow(lending, {run_job(16, 0s, 0s, 99s), limited}, no_delay).holds);
    limited.priorities.back().at = after(46s);
    CHECK_FALSE(check_overflow(lending, {run_job(16, 0s, 0s, 99s), limited}, no_delay).holds);
}

TEST_CASE("schedule: jobs in the order of their priorities") {
    const Check check = check_order({run_job(1, 0s, 20s, 30s, 300), run_job(1, 0s, 40s, 50s, 200),
                                     run_job(1, 0s, 60s, 70s, 100), debug_job(run_job(1, 0s, 10s, 20s, 5))},
                                    no_delay);
    CHECK(check.holds);
    CHECK(check.detail == "3 pairs compared in which one was ahead for 2.0 s");
}

TEST_CASE("schedule: a job that passes one of higher priority is found and named") {
    const JobRecord ahead = run_job(1, 0s, 40s, 50s, 200), behind = run_job(1, 0s, 20s, 30s, 199);
    const Check check = check_order({ahead, behind}, no_delay);
    CHECK_FALSE(check.holds);
    CHECK(check.detail == "job " + std::to_string(behind.id) + " of carol started 20.0 s before job " +
                              std::to_string(ahead.id) + " of carol; 1 pair compared in which one was ahead for 2.0 s");
    const JobRecord newcomer = run_job(1, 19s, 20s, 30s, 199);
    CHECK_FALSE(check_order({ahead, newcomer}, no_delay).holds);
}

TEST_CASE("schedule: what may start before a job of higher priority") {
    const JobRecord ahead = run_job(4, 0s, 40s, 50s, 200);
    const auto is_allowed = [](const JobRecord& first, const JobRecord& second) {
        return check_order({first, second}, no_delay).holds;
    };
    const JobRecord behind = run_job(4, 0s, 20s, 30s, 100);
    CHECK_FALSE(is_allowed(ahead, behind));
    CHECK(is_allowed(ahead, run_job(3, 0s, 20s, 30s, 100)));  // it fits where the other does not
    CHECK(is_allowed(ahead, debug_job(behind)));              // another queue
    CHECK(is_allowed(ahead, run_job(4, 0s, 20s, 30s, 200)));  // the same priority
    CHECK(is_allowed(ahead, run_job(4, 0s, 40s, 42s, 100)));  // they start together
    CHECK_FALSE(is_allowed(ahead, run_job(4, 0s, 40s - 1us, 42s, 100)));
    CHECK(is_allowed(run_job(4, 18s + 1us, 40s, 50s, 200), behind));  // the other has just come
    CHECK_FALSE(is_allowed(run_job(4, 18s, 40s, 50s, 200), behind));
    JobRecord longer = ahead, raised = ahead, limited = ahead;
    longer.requested += 1us;
    raised.priorities = {{after(0s), 50}, {after(18s + 1us), 200}};
    limited.priorities = {{after(0s), 200}, {after(5s), 0}, {after(30s), 200}};
    CHECK(is_allowed(longer, behind));
    CHECK(is_allowed(raised, behind));
    CHECK(is_allowed(limited, behind));
    JobRecord lowered = behind;
    lowered.priorities = {{after(0s), 300}, {after(18s), 100}};
    CHECK_FALSE(is_allowed(ahead, lowered));
    lowered.priorities[1].at = after(18s + 1us);
    CHECK(is_allowed(ahead, lowered));
}

TEST_CASE("schedule: a job that is taken back from a child may start a little later") {
    JobRecord ahead = run_job(1, 0s, 40s, 50s, 200);
    const auto is_allowed = [&](Duration start) {
        return check_order({ahead, run_job(1, 0s, start, 60s, 100)}, no_delay).holds;
    };
    CHECK_FALSE(is_allowed(38s));
    ahead.moves = {after(1s), after(36s)};
    CHECK(is_allowed(38s));
    CHECK_FALSE(is_allowed(37s - 1us));
    CHECK_FALSE(is_allowed(36s));
}

TEST_CASE("schedule: a job may be lent cores before one of higher priority that waits at home") {
    JobRecord ahead = run_job(1, 0s, 40s, 50s, 200), behind = run_job(1, 0s, 30s, 50s, 100);
    CHECK_FALSE(check_order({ahead, behind}, no_delay).holds);
    behind.partition = "debug";
    CHECK(check_order({ahead, behind}, no_delay).holds);
    std::swap(ahead.partition, behind.partition);
    CHECK_FALSE(check_order({ahead, behind}, no_delay).holds);
}

TEST_CASE("schedule: the order must have stood for longer where messages were slower") {
    JobRecord ahead = run_job(1, 12s, 40s, 50s, 200);
    const JobRecord behind = run_job(1, 0s, 20s, 30s, 100);
    JobRecord slow = run_job(1, 0s, 0s, 1s);
    slow.recorded += 1500ms;
    const Slack slack = slack_of({ahead, behind, slow}, 1);
    CHECK(slack.second == 1s);
    CHECK(slack.slowest_report == 1500ms);
    CHECK_FALSE(check_order({ahead, behind}, slack).holds);
    ahead.priorities[0].at += 1us;
    CHECK(check_order({ahead, behind}, slack).holds);
}
