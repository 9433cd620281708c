// SPDX-License-Identifier: LGPL-3.0-only
// What a job in a partition costs: what the partition says, which follows its parent's settings; as without a
// partition.
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using namespace std::chrono_literals;

namespace {

constexpr FluxJobId partition = 9;

struct SeenJob {
    FluxJobId id;
    std::uint32_t user;
    std::int64_t cores;
    double start, end;
    std::string qos, queue;
    double gpus = 0;
    Duration wall_time = Duration::max();
};

/// Two at a time on ten cores.
const std::vector<SeenJob> seen_jobs{
    {1, alice, 4, 100, 400, "", "batch"},
    {2, bob, 6, 100, 250, "high", "batch", 2, 1h},
    {3, bob, 3, 260, 2000, "free", "debug", 0, 30min},
    {4, alice, 1, 450, 1800, "high", "gpu", 4, 20min},
};

enum class Place { alone, in_partition };

JobEvent submitted_as(const SeenJob& job, Place place) {
    JobEvent event = submitted(job.id, job.start, job.user);
    auto& submit = std::get<SubmitEvent>(event.what);
    JobRequest& request = submit.request;
    request.qos = job.qos;
    request.wall_time = job.wall_time;
    if (job.gpus > 0) {
        request.amounts["gpus"] = job.gpus;
    }
    if (place == Place::alone) {
        request.queue = job.queue;
        return event;
    }
    submit.userid = owner;  // a copy
    request.routed_for = job.user;
    request.queue_above = job.queue;
    return event;
}

std::unique_ptr<PriorityService> counting_at(const Settings& with, bool is_child) {
    auto s = service(is_child, with);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    return s;
}

/// What the child has to report goes up as text.
void report_up(PriorityService& child, PriorityService& parent, double t) {
    UplinkQueue& queue = child.sends().uplink().queue();
    while (const auto batch = queue.next()) {
        FlatJson reader;
        const std::string text = write_report(partition, *batch);
        auto read = read_report(reader.read(text));
        REQUIRE(read);
        (void)queue.acknowledged(parent.report(partition, read->first_seq, read->records, at(t)));
    }
}

/// Instances in which the jobs ran up to a time: one, or a parent with a partition.
struct Run {
    std::unique_ptr<PriorityService> top, below;
    double since = 0;

    Run(const Settings& with, Place place) : top(counting_at(with, false)) {
        if (place == Place::in_partition) {
            below = counting_at(with, true);
            top->apply(submitted(partition, 0, owner));
            top->apply(eligible(partition, 0));
            top->apply(started(partition, 0, 10));
            top->attach_child(partition, "x", 1, at(0));
            below->sends().uplink().queue().attached(0);
        }
    }
    PriorityService& busy() { return below ? *below : *top; }
    void happen(const JobEvent& event, double t) {
        busy().apply(event);
        if (below) {
            report_up(*below, *top, t);
        }
    }
    void run_jobs(double until) {
        std::multimap<double, JobEvent> events;
        for (const SeenJob& job : seen_jobs) {
            events.emplace(job.start, submitted_as(job, below ? Place::in_partition : Place::alone));
            events.emplace(job.start, eligible(job.id, job.start));
            events.emplace(job.start, started(job.id, job.start, job.cores));
            events.emplace(job.end, freed(job.id, job.end));
        }
        for (const auto& [t, event] : events) {
            if (t > since && t <= until) {
                happen(event, t);
            }
        }
        since = until;
    }
};

std::vector<CoreMicros> usage_of_users(const PriorityService& s, double t) {
    const Measured measured = measured_at(s, at(t));
    std::vector<CoreMicros> usage;
    for (const char* path : {"physics/lattice/@alice", "bio/@bob"}) {
        usage.push_back(measured.usage.usage.at(s.accounting().tree().find(path)->value));
    }
    return usage;
}

DynamicUse history_of(const PriorityService& s, const std::string& path, double t) {
    std::vector<DynamicUse> use;
    s.accounting().ledgers().measure_use(at(t), use);
    return use.at(s.accounting().tree().find(path)->value);
}

Settings billed() {
    Settings with = settings();
    with.billing.weights = BillingWeights::parse("cpu=1,gres/gpu=10").value();
    with.billing.queue_weights["gpu"] = BillingWeights::parse("gres/gpu=32").value();
    with.billing.factors.qos = {{"high", 2}, {"free", 0}};
    with.billing.factors.queue["debug"] = 0.5;
    return with;
}

}  // namespace

// Mutant: modules/job-priority/charges/running_job.hpp: if (start.costs_its_part) { => if (true) {
TEST_CASE("partition costs: a job costs in a partition what it costs without one, however the site counts") {
    const auto make = [](auto change) {
        Settings with = billed();
        change(with);
        return with;
    };
    const std::vector<Settings> ways{
        billed(),
        make([](Settings& with) { with.decay = DecayKind::none; }),
        make([](Settings& with) { with.decay = DecayKind::window; }),
        make([](Settings& with) { with.billing.charging = Charging::at_dispatch; }),
        make([](Settings& with) { with.policy = PolicyKind::lsf; }),
    };
    for (const Settings& with : ways) {
        Run alone(with, Place::alone);
        Run partitioned(with, Place::in_partition);
        for (const double t : {200., 1000., 2000., 90000.}) {
            alone.run_jobs(t);
            partitioned.run_jobs(t);
            CHECK(usage_of_users(*partitioned.top, t) == usage_of_users(*alone.top, t));
            CHECK(charged(*partitioned.top, "bio/@bob", t) == charged(*alone.top, "bio/@bob", t));
            if (with.policy == PolicyKind::lsf) {
                CHECK(history_of(*partitioned.top, "bio/@bob", t) == history_of(*alone.top, "bio/@bob", t));
            }
        }
    }
}

TEST_CASE("partition costs: while they run, also after a restart of the parent, and what is idle stays idle") {
    Settings with = billed();
    with.decay = DecayKind::none;
    with.billing.charging = Charging::at_dispatch;
    Run run(with, Place::in_partition);
    MemoryStore store;
    for (const SeenJob& job : {seen_jobs[0], seen_jobs[1]}) {
        run.happen(submitted_as(job, Place::in_partition), job.start);
        run.happen(eligible(job.id, job.start), job.start);
        run.happen(started(job.id, job.start, job.cores), job.start);
    }
    store.apply(run.top->take_batch());
    run.top = service(false, with);
    REQUIRE(run.top->restore(store.saved(), at(150)));
    const std::vector<CoreMicros> expected{4 * 100'000'000ULL, 2 * 26 * 3600'000'000ULL};  // bob: an hour at dispatch
    CHECK(usage_of_users(*run.top, 200) == expected);
    CHECK(run.top->accounting().ledger().charged(idle, at(200)) == 1'000'000'000);
    CHECK(measured_at(*run.top, at(200)).usage.idle == 1'000'000'000);
}

TEST_CASE("partition costs: fewer cores than reported cost their part of the rate") {
    Run run(billed(), Place::in_partition);
    const Bill bill{.rate = 6000};
    run.top->report(partition, 1,
                    {{true, 1, "alice", "", 8, at(10), 0, bill}, {true, 2, "bob", "", 4, at(10), 0, bill}}, at(10));
    CHECK(run.top->accounting().reported().at({partition, 1}).bill.rate == 6000);
    CHECK(run.top->accounting().reported().at({partition, 2}).bill.rate == 3000);
}

// Mutant: modules/job-priority/charges/child_reports.cpp: book_.is_partition(*child) && !record.user.empty(); => true;
TEST_CASE("partition costs: a guest's child costs its part of his job, whatever it says") {
    Settings with = billed();
    auto s = counting_at(with, false);
    JobEvent submit = submitted(partition, 0, bob);
    std::get<SubmitEvent>(submit.what).request.qos = "high";
    s->apply(submit);
    s->apply(eligible(partition, 0));
    s->apply(started(partition, 0, 10));
    s->attach_child(partition, "x", 1, at(0));
    s->report(partition, 1,
              {{true, 1, "bob", "", 5, at(10), 0, {.rate = 0, .prepaid = 1h, .gpus = 7, .committed = 1h}}}, at(10));
    CHECK(s->accounting().reported().at({partition, 1}).bill == Bill{.rate = 10'000});
}

// Mutant: modules/job-priority/charges/child_reports.cpp: above.bill = bill_above(*job, from.job, record); => ;
TEST_CASE("partition costs: a partition tells its parent of a guest's child what it believes itself") {
    auto s = counting_at(billed(), true);
    SeenJob outer{5, bob, 10, 0, 0, "high", "batch"};
    s->sends().uplink().queue().attached(0);
    s->apply(submitted_as(outer, Place::in_partition));
    s->apply(eligible(5, 0));
    s->apply(started(5, 0, 10));
    s->attach_child(5, "x", 1, at(0));
    const Bill lie{.rate = 0, .prepaid = 1h, .gpus = 7, .queue = "gpu", .project = "theirs", .qos = "free"};
    s->report(5, 1, {{true, 1, "bob", "", 5, at(10), 0, lie}}, at(10));
    const auto batch = s->sends().uplink().queue().next();
    REQUIRE(batch);
    REQUIRE(batch->records.size() == 2);
    CHECK(batch->records[0].bill == Bill{.rate = 20'000, .queue = "batch", .qos = "high"});
    CHECK(batch->records[1].bill == Bill{.rate = 10'000, .queue = "batch", .qos = "high"});
}

namespace {

const char* qos_tree =
    "\"physics\" = 1\n\"physics/@alice\" = 1\n\"bio\" = 1\n\"bio/qos:high\" = 1\n\"bio/qos:high/@bob\" = 1\n"
    "\"bio/@bob\" = 1\n";

}  // namespace

// Mutant: modules/job-priority/jobs/payers.cpp: && !record.bill.qos.empty() => && false
TEST_CASE("partition costs: a node of a QoS pays in a partition what it pays without one, also below a partition") {
    const Settings with = settings();
    Run alone(with, Place::alone);
    Run partitioned(with, Place::in_partition);
    auto middle = counting_at(with, true);
    for (PriorityService* s : {alone.top.get(), partitioned.top.get(), partitioned.below.get(), middle.get()}) {
        put_tree(*s, qos_tree);
    }
    alone.run_jobs(3000);
    partitioned.run_jobs(3000);
    for (const char* path : {"physics/@alice", "bio/qos:high/@bob", "bio/@bob"}) {
        INFO(path);
        CHECK(charged(*alone.top, path, 3000) > 0);
        CHECK(charged(*partitioned.top, path, 3000) == charged(*alone.top, path, 3000));
    }
    middle->sends().uplink().queue().attached(0);
    middle->apply(submitted(8, 0, owner));
    middle->apply(eligible(8, 0));
    middle->apply(started(8, 0, 10));
    middle->attach_child(8, "x", 1, at(0));
    middle->report(8, 1, {{true, 1, "bob", "", 4, at(10), 0, {.rate = 4000, .qos = "high"}}}, at(10));
    CHECK(charged(*middle, "bio/qos:high/@bob", 20) == 40'000'000);
    CHECK(middle->accounting().reported().at({8, 1}).bill == Bill{.rate = 4000});
    const auto batch = middle->sends().uplink().queue().next();
    REQUIRE(batch);
    CHECK(batch->records.back().bill.qos == "high");
}

TEST_CASE("partition costs: a guest's child names no QoS: its jobs have that of his job") {
    auto s = counting_at(settings(), false);
    put_tree(*s, qos_tree);
    s->apply(submitted(7, 0, bob));
    s->apply(eligible(7, 0));
    s->apply(started(7, 0, 10));
    s->attach_child(7, "x", 1, at(0));
    s->report(7, 1, {{true, 1, "bob", "", 4, at(10), 0, {.rate = 4000, .qos = "high"}}}, at(10));
    CHECK(charged(*s, "bio/qos:high/@bob", 20) == 0);
    CHECK(charged(*s, "bio/@bob", 20) == 200'000'000);
}
