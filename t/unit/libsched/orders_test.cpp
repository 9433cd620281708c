// SPDX-License-Identifier: LGPL-3.0-only
// What every order of waiting jobs promises, asked of each that there is, and of one more that is defined here.
#include "libsched/order/orders.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "libfairshare/toml/share_tree_toml.hpp"
#include "libsched/sim/replay_order.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using order::Holder;
using order::Scope;
using order::WaitingJob;
using test::at;

namespace {

/// A sixth policy: the least requested time goes first.
class ShortestFirst : public order::OrderBase {
  public:
    static constexpr PolicyKind policy = PolicyKind::fcfs;  // a site could not choose it: it has no name
    static constexpr bool moves_by_time = false;

    ShortestFirst(const PolicySettings&, const MachineSize&) {}
    bool configure(const PolicySettings&, Instant) { return true; }
    void put(JobId id, const WaitingJob& job, Instant) {
        const auto seconds = job.limit.count() / 1'000'000;
        waiting_[id] = static_cast<std::uint32_t>(priority_max - std::clamp<std::int64_t>(seconds, 0, 1U << 30));
    }
    void pause(JobId id, Instant at) { remove(id, at); }
    void remove(JobId id, Instant) {
        waiting_.erase(id);
        told_.erase(id);
    }
    void started(std::optional<JobId> id, const Holder&, Instant at) {
        if (id) {
            remove(*id, at);
        }
    }
    void prioritize(const order::Use&, Instant, Scope, order::Values& values) {
        for (const auto& [id, value] : waiting_) {
            if (const auto told = told_.find(id); told == told_.end() || told->second != value) {
                values.emplace_back(id, value);
                told_[id] = value;
            }
        }
    }
    OrderTerms explain(JobId id, const order::Use&, Instant) const {
        const double seconds = priority_max - waiting_.at(id);
        return {{{"limit", seconds, "s", -1, -seconds}}, -seconds, {"Jobs go by the time that they request."}};
    }
    std::string lead(JobId own, JobId other, const order::Use& use, Instant now) const {
        return order_lead("what it requests", explain(own, use, now), explain(other, use, now));
    }
    std::optional<Course> course(JobId, const order::Use&) const { return std::nullopt; }

  private:
    std::map<JobId, std::uint32_t> waiting_, told_;
};

/// One order, what is measured for it, and what it said so far. All jobs are of users with equal shares.
template <order::Order O>
class World {
  public:
    explicit World(const PolicySettings& settings = site()) : order(settings, machine()) {
        use.tree = &tree_;
        use.leaves = leaves_;
        use.factors = factors_;
        use.credentials = &usage_;
    }
    /// Waits count at once, so that time changes what can change.
    static PolicySettings site() {
        PolicySettings settings;
        settings.policy = O::policy;
        settings.queues = {{"high", 20}, {"low", 10}};
        settings.wait_after = {Duration{}, 0};
        settings.load_threshold.rule.threshold = 1e6;
        settings.moab.credentials[0]["*"].target = FairShareTarget{TargetKind::target, 20};
        settings.moab.part(MoabComponent::resource, "user-jobs").weight = 100;
        return settings;
    }
    static MachineSize machine() { return {16, 16, 0., 0.}; }

    WaitingJob job(std::uint64_t place, std::uint32_t user, Instant since) {
        WaitingJob made;
        made.place = place;
        made.submit = made.since = since;
        made.payer = user;
        made.queue = "low";
        made.limit = std::chrono::hours(1);
        for (std::size_t kind = 0; kind < moab_credential_kinds; kind++) {
            if constexpr (order::GoesByCredentials<O>) {
                made.who[kind] = order.credential(kind, {"name" + std::to_string(user)});
            }
        }
        return made;
    }
    /// What changed; it is remembered, too.
    order::Values ask(Instant now, Scope scope = Scope::all) {
        order::Values values;
        order.prioritize(use, now, scope, values);
        for (const auto& [id, value] : values) {
            told[id] = value;
        }
        return values;
    }
    std::uint32_t value(JobId id) const {
        const auto known = told.find(id);
        return known == told.end() ? priority_min : known->second;
    }

    O order;
    order::Use use;
    std::map<JobId, std::uint32_t> told;

  private:
    ShareTree tree_ = std::get<ShareTree>(parse_share_tree("\"a\" = 1\n\"a/@x\" = 1\n\"b\" = 1\n\"b/@y\" = 1\n"));
    std::vector<NodeId> leaves_{tree_.find("a/@x").value(), tree_.find("b/@y").value()};
    std::vector<double> factors_{0.5, 0.25};
    MoabPriorities::Usage usage_;
};

template <typename O>
constexpr bool says_all_alike = std::is_same_v<O, order::Fcfs>;

}  // namespace

static_assert(order::Order<ShortestFirst>);

#define WEIR_ALL_ORDERS order::Multifactor, order::Fcfs, order::Lsf, order::Moab, order::LoadThreshold, ShortestFirst

TEST_CASE("orders: the suite asks each row of the table") {
    using Asked = std::variant<WEIR_ALL_ORDERS>;
    CHECK(std::variant_size_v<Asked> == std::variant_size_v<order::AnyOrder> + 1);
    for (const PolicyKind policy :
         {PolicyKind::multifactor, PolicyKind::fcfs, PolicyKind::lsf, PolicyKind::moab, PolicyKind::load_threshold}) {
        PolicySettings settings;
        settings.policy = policy;
        auto made = order::make_order(settings, {16, 16, 0., 0.});
        CHECK(std::visit([](const auto& order) { return order.policy; }, made) == policy);
        CHECK(std::visit([&](auto& order) { return order.configure(settings, at(0)); }, made));
        settings.policy = policy == PolicyKind::fcfs ? PolicyKind::lsf : PolicyKind::fcfs;
        CHECK_FALSE(std::visit([&](auto& order) { return order.configure(settings, at(0)); }, made));
    }
}

// Kills: an order by the id, or by when a job was put, in place of the submission.
TEMPLATE_TEST_CASE("orders: jobs that differ in nothing else go by submission", "", WEIR_ALL_ORDERS) {
    World<TestType> world;
    for (const std::uint64_t id : {3U, 0U, 2U, 1U}) {
        world.order.put(JobId{id}, world.job(10 - id, 0, at(0)), at(0));
    }
    world.ask(at(100));
    for (std::uint64_t id = 0; id < 3; id++) {
        CHECK(world.value(JobId{id}) <= world.value(JobId{id + 1}));  // equal ones go by submission anyway
    }
}

// Kills: everything said at each question; a job of which nothing is ever said.
TEMPLATE_TEST_CASE("orders: what was said is not said again, and a question changes nothing", "", WEIR_ALL_ORDERS) {
    World<TestType> world;
    world.order.put(JobId{0}, world.job(1, 0, at(0)), at(0));
    world.order.put(JobId{1}, world.job(2, 1, at(5)), at(5));
    CHECK(world.ask(at(60)).size() == (says_all_alike<TestType> ? 0 : 2));
    const OrderTerms terms = world.order.explain(JobId{0}, world.use, at(60));
    CHECK(terms.words.size() + terms.terms.size() > 0);
    CHECK_FALSE(world.order.lead(JobId{1}, JobId{0}, world.use, at(60)).empty());
    CHECK(world.ask(at(60)).empty());
}

// Kills: a value left for the next job of that id; a job that is gone still spoken of.
TEMPLATE_TEST_CASE("orders: a job that left is not spoken of, and its id may be another's", "", WEIR_ALL_ORDERS) {
    const bool starts = GENERATE(false, true);
    World<TestType> world;
    const Holder holder{.payer = 0, .user = world.job(1, 0, at(0)).who[0], .cores = 4};
    world.order.put(JobId{0}, world.job(1, 0, at(0)), at(0));
    world.order.put(JobId{1}, world.job(2, 1, at(0)), at(0));
    world.ask(at(10));
    starts ? world.order.started(JobId{0}, holder, at(10)) : world.order.remove(JobId{0}, at(10));
    for (const Scope scope : {Scope::marked, Scope::all}) {
        for (const auto& [id, value] : world.ask(at(100), scope)) {
            CHECK(id == JobId{1});
        }
    }
    if (starts) {
        world.order.ended(holder, at(100));
    }
    world.told.erase(JobId{0});
    world.order.put(JobId{0}, world.job(3, 0, at(100)), at(100));
    world.ask(at(100));
    CHECK(world.told.contains(JobId{0}) != says_all_alike<TestType>);
    world.order.remove(JobId{0}, at(100));
    world.order.remove(JobId{0}, at(100));  // nothing any more
    world.order.remove(JobId{7}, at(100));
}

// Kills: jobs put since left out of the marked ones; another value than a look at all would give.
TEMPLATE_TEST_CASE("orders: the marked jobs get what a look at all would give them", "", WEIR_ALL_ORDERS) {
    World<TestType> marked, all;
    for (World<TestType>* world : {&marked, &all}) {
        world->order.put(JobId{0}, world->job(1, 0, at(0)), at(0));
        world->ask(at(10));
        world->order.put(JobId{1}, world->job(2, 1, at(10)), at(10));
    }
    marked.ask(at(10), Scope::marked);
    all.ask(at(10));
    CHECK(marked.value(JobId{1}) == all.value(JobId{1}));
    CHECK(marked.told.contains(JobId{1}) != says_all_alike<TestType>);
}

// Kills: cores that an end does not give back; a start counted twice.
TEMPLATE_TEST_CASE("orders: what a job held and gave back leaves no trace", "", WEIR_ALL_ORDERS) {
    World<TestType> world, untouched;
    for (World<TestType>* one : {&world, &untouched}) {
        one->order.put(JobId{0}, one->job(1, 0, at(0)), at(0));
    }
    const Holder holder{.payer = 0, .user = world.job(1, 0, at(0)).who[0], .cores = 8};
    world.order.started(std::nullopt, holder, at(50));
    world.order.ended(holder, at(50));
    for (const int t : {50, 500}) {
        world.ask(at(t));
        untouched.ask(at(t));
        CHECK(world.value(JobId{0}) == untouched.value(JobId{0}));
    }
}

// Kills: a held job still in the order; one that comes back not spoken of.
TEMPLATE_TEST_CASE("orders: a held job has no place, and has one again afterwards", "", WEIR_ALL_ORDERS) {
    World<TestType> world;
    world.order.put(JobId{0}, world.job(1, 0, at(0)), at(0));
    world.order.put(JobId{1}, world.job(2, 0, at(0)), at(0));
    world.ask(at(10));
    world.order.pause(JobId{0}, at(10));
    for (const auto& [id, value] : world.ask(at(100))) {
        CHECK(id == JobId{1});
    }
    world.order.put(JobId{0}, world.job(1, 0, at(0)), at(100));
    world.ask(at(200));
    CHECK(world.value(JobId{0}) >= world.value(JobId{1}) - (TestType::policy == PolicyKind::load_threshold ? 5000 : 0));
}

// Kills: a course of another number than the queue's; a slope that the number leaves.
TEMPLATE_TEST_CASE("orders: a course says the number that the order says, and keeps to its slope", "",
                   WEIR_ALL_ORDERS) {
    draw::property("from any instant on", [] {
        World<TestType> world;
        const Instant since = at(draw::in_range(0, 1000));
        const Instant now = since + test::secs(draw::in_range(0, 100'000));
        world.order.put(JobId{0}, world.job(1, draw::in_range(0U, 2U), since), since);
        world.ask(now);
        const auto course = world.order.course(JobId{0}, world.use);
        if (!course) {
            return;
        }
        RC_ASSERT(course->is_rounded);
        RC_ASSERT(std::llround(course->number(now)) == world.value(JobId{0}));
        const Instant later = now + test::secs(draw::in_range(1, 100'000));
        const Slope slope = course->slope(now, later);
        const double gain = course->number(later) - course->number(now);
        const double seconds = to_seconds(later - now);
        RC_ASSERT(gain >= slope.least * seconds - 1e-3);
        RC_ASSERT(gain <= slope.most * seconds + 1e-3);
    });
}

TEST_CASE("orders: one more policy orders a replay, with nothing written for it but itself") {
    SimJob job;
    job.submit = at(0);
    job.cores = 4;
    std::vector<SimJob> jobs;
    for (const int seconds : {100, 300, 200, 50}) {
        job.number++;
        job.run = job.limit = test::secs(seconds);
        jobs.push_back(job);
    }
    ReplayOrder<ShortestFirst> shortest(PolicySettings{}, 4);
    std::vector<std::int64_t> numbers;
    for (const Outcome& outcome : test::replay(jobs, 4, Fcfs{}, &shortest)) {
        numbers.push_back(outcome.job.number);
    }
    CHECK(numbers == std::vector<std::int64_t>{4, 1, 3, 2});
}
