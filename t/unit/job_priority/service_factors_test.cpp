// SPDX-License-Identifier: LGPL-3.0-only
// The factors that only some sites have: what the site sets, associations, resources, nodes.
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

Settings with(const std::string& toml) {
    Settings s =
        config::read_settings_toml(
            toml + "[weir.weights]\nwait = 0\nfairshare = 0\nsize = 0\nuser = 0\nassociation = 100\nsite = 1000\n", "t")
            .value();
    s.users = settings().users;
    s.push = settings().push;
    return s;
}

std::unique_ptr<PriorityService> configured_service(const std::string& toml) {
    auto made = std::make_unique<PriorityService>(with(toml), no_database(), owner, false);
    put_tree(*made);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

void submit_pending(PriorityService& s, FluxJobId id, std::uint32_t userid, JobRequest request = {}) {
    s.apply({id, at(1), SubmitEvent{userid, 16, std::move(request)}});
    s.apply(eligible(id, 1));
}

std::map<std::uint64_t, std::uint32_t> pushed_at(PriorityService& s, double t, Pass which = Pass::full) {
    s.pass(at(t), which);
    const auto pushed = push(s);
    return {pushed.begin(), pushed.end()};
}

Settings with_head() {
    Settings made = settings();
    made.push = config::PushRule::head;
    return made;
}

/// Job 1 is a partition, 2 and 3 are alice's.
std::unique_ptr<PriorityService> routing_service(Settings with = with_head()) {
    auto made = service(false, std::move(with));
    put_tree(*made);
    made->begin_backlog();
    made->end_backlog(at(0));
    JobRequest partition;
    partition.is_instance = true;
    submit_pending(*made, 1, owner, std::move(partition));
    submit_pending(*made, 2, alice);
    submit_pending(*made, 3, alice);
    return made;
}

using Values = std::vector<std::pair<FluxJobId, std::optional<double>>>;

}  // namespace

// Kills: an unknown job's value kept; a value that moves no job until the next pass; null setting 0 but keeping the
// row.
TEST_CASE("service: the site's value moves the job, is shown, and can be taken back") {
    auto s = configured_service("");
    submit_pending(*s, 1, alice);
    submit_pending(*s, 2, alice);
    pushed_at(*s, 2);
    CHECK(set_site_values(*s, Values{{1, 0.25}, {9, 1.}, {2, 7.}}).unknown == std::vector<FluxJobId>{9});
    CHECK(s->has_marked());
    s->pass(at(2), Pass::marked);
    const auto pushed = push(*s);
    CHECK(pushed == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 250}, {2, 1000}});
    const Json view = explain_view(*s, 2, at(2)).value();
    const std::string text = view.dump();
    CHECK_THAT(text, Catch::Matchers::Contains("\"name\":\"site\",\"raw\":7.0"));
    set_site_values(*s, Values{{1, std::nullopt}});
    CHECK(pushed_at(*s, 3).at(1) == 1);
    CHECK_FALSE(s->site().find(1));
    CHECK_FALSE(s->site().find(9));
}

// Kills: values not written; values kept for another job of the same id; values of jobs that are gone kept for ever;
// the backlog's jobs evaluated without them.
TEST_CASE("service: the site's values outlive the module, and go with their jobs") {
    MemoryStore store;
    auto s = configured_service("");
    submit_pending(*s, 1, alice);
    submit_pending(*s, 2, alice);
    submit_pending(*s, 3, alice);
    submit_pending(*s, 4, alice);
    StateBatch values;
    values.site = set_site_values(*s, Values{{1, 0.5}, {2, 0.5}, {3, 0.5}, {4, 0.5}}).rows;
    store.apply(values);
    s->apply(cleaned(3, 2));
    store.apply(s->take_batch());
    const SiteRow half{0.5, at(1)};
    CHECK(store.saved().site == std::map<std::uint64_t, SiteRow>{{1, half}, {2, half}, {4, half}});

    PriorityService next(with(""), no_database(), owner, false);
    REQUIRE(next.restore(store.saved(), at(3)));
    put_tree(next);
    next.begin_backlog();
    next.add_backlog({submitted(1, 1, alice), eligible(1, 1)});
    next.add_backlog({submitted(4, 2, alice), eligible(4, 2)});  // another job of that id
    next.end_backlog(at(4));
    CHECK(pushed_at(next, 4).at(1) == 500);
    CHECK_FALSE(next.site().find(2));  // no longer among the jobs
    CHECK_FALSE(next.site().find(4));
    store.apply(next.take_batch());
    CHECK(store.saved().site == std::map<std::uint64_t, SiteRow>{{1, half}});
}

// Kills: a member who joins by an @* line standing without its account's priority until the next reload; a new tree
// with the old tree's priorities.
TEST_CASE("service: an association's priority counts, also of members that join later") {
    auto s = configured_service("[weir.associations]\nphysics = {priority = 5}\nbio = {priority = 10}\n");
    submit_pending(*s, 1, alice);
    submit_pending(*s, 2, carol);
    auto pushed = pushed_at(*s, 2);
    CHECK(pushed.at(1) == 50);
    CHECK(pushed.at(2) == 100);
    put_tree(*s, "\"first\" = 1\n\"bio\" = 1\n\"bio/@alice\" = 1\n\"first/@carol\" = 1\n", 3);
    pushed = pushed_at(*s, 4);
    CHECK(pushed.at(1) == 100);
    CHECK(pushed.at(2) == 1);
}

// Kills: the limit not handed on; an update of the limit that moves nothing; new settings for new jobs alone; a promise
// of what each hour gains while none does.
TEST_CASE("service: wait counts after so many of the job's time limits, and explain says when") {
    Settings by_limits = with("");
    by_limits.weights = {3600, 0, 0, 0, 0, 0};
    by_limits.wait_max = std::chrono::hours(1);
    by_limits.wait_after = {std::chrono::hours(1), 3};
    PriorityService s(by_limits, no_database(), owner, false);
    put_tree(s);
    s.begin_backlog();
    s.end_backlog(at(0));
    JobRequest hour;
    hour.wall_time = std::chrono::hours(1);
    submit_pending(s, 1, alice, hour);
    submit_pending(s, 2, alice);  // no limit
    CHECK(pushed_at(s, 1 + 3600 + 60).at(2) == 60);
    const auto words = [&](double t) { return explain_view(s, 1, at(t)).value().dump(); };
    CHECK_THAT(words(1 + 3600 + 60),
               Catch::Matchers::Contains("Its wait counts once it is 3h long (3 times its time limit), in 1h 59m"));
    s.apply({1, at(3700), UpdateEvent{{}, {}, {}, std::chrono::minutes(30)}});
    s.pass(at(1 + 5400 + 30), Pass::marked);
    CHECK(push(s).front() == std::pair<std::uint64_t, std::uint32_t>{1, 30});
    CHECK_THAT(words(1 + 5400 + 30), Catch::Matchers::Contains("Each hour of waiting gains 3600"));
    by_limits.wait_after.limits = 0;
    s.configure(by_limits, at(5500));
    CHECK(pushed_at(s, 1 + 5400 + 60).at(1) == 1860);
}

// Kills: amounts in another order than the engine's types; nodes or the wall time of the job not handed on.
TEST_CASE("service: resources, nodes and time limits count") {
    auto s = configured_service("[weir.resources]\ngpus = 600\nmemory = { weight = 100, total = 64 }\n");
    s->set_machine({64, 4, 6., 0.});
    JobRequest request;
    request.cores = 4;
    request.amounts = {{"gpus", 2.}, {"memory", 32.}, {"licence", 9.}};
    submit_pending(*s, 1, alice, request);
    CHECK(pushed_at(*s, 2).at(1) == 250);
    const std::string text = explain_view(*s, 1, at(2)).value().dump();
    CHECK_THAT(text, Catch::Matchers::Contains("2 gpus give 200, 32 memory give 50"));

    Settings by_nodes = with("");
    by_nodes.weights.size = 1000;
    by_nodes.size_rule = SizeRule::nodes_and_cores;
    s->configure(by_nodes, at(3));
    request.nodes = 3;
    request.cores = 16;
    submit_pending(*s, 2, alice, request);
    CHECK(pushed_at(*s, 4).at(2) == 500);  // (3/4 + 16/64) / 2
    by_nodes.size_rule = SizeRule::over_time;
    s->configure(by_nodes, at(5));
    request.wall_time = std::chrono::minutes(2);
    submit_pending(*s, 3, alice, request);
    CHECK(pushed_at(*s, 6).at(3) == 375);  // 3 nodes of 16 cores for 2 minutes
}

// Mutant: modules/job-priority/ranking/ranked_jobs.cpp: put(*job, PutCause::settings); => put(*job, PutCause::job);
TEST_CASE("service: with only-raises no change of tree, machine or settings lowers a job, and one of itself does") {
    Settings raising = settings();
    raising.only_raises = true;
    raising.weights = {.wait = 0, .fairshare = 1000, .qos = 0, .queue = 0, .size = 0, .user = 0};
    auto s = service(false, raising);
    const std::string tree = "\"a\" = 1\n\"a/@alice\" = 1\n\"b\" = 1\n\"b/@bob\" = 1\n";
    put_tree(*s, tree);
    s->begin_backlog();
    s->end_backlog(at(0));
    submit_pending(*s, 1, alice);
    submit_pending(*s, 2, bob);
    REQUIRE(pushed_at(*s, 2).at(1) == 1000);
    submit_pending(*s, 3, alice);  // alice uses the machine, so bob is first
    s->apply(started(3, 3, 100));
    CHECK(pushed_at(*s, 10).count(1) == 0);
    const auto priority = [&](FluxJobId id, double t) {
        return s->ranking().queue().engine().priority(*s->ranking().queue().find(id), at(t), s->ranking().factors());
    };
    put_tree(*s, "\"0\" = 1\n\"0/@carol\" = 1\n" + tree, 11);  // her index is another one
    CHECK(pushed_at(*s, 12).count(1) == 0);
    s->set_machine({64, 16});
    raising.queues = {{"batch", 5}, {"debug", 9}};
    s->configure(raising, at(13));
    s->pass(at(13));
    CHECK(priority(1, 13) == 1000);
    CHECK_THAT(explain_view(*s, 1, at(13)).value().dump(), Catch::Matchers::Contains("An earlier pass gave it 1000. "));
    s->apply(urgency(1, 14, 15));
    s->pass(at(14));
    CHECK(priority(1, 14) < 1000);
}

// Kills: an event that evaluates the tree, where the job that it is about is compared with the factors of now and all
// others with those of the last full pass.
// Mutant: modules/job-priority/ranking/ranking.cpp: queue_.mark_changed(before, factors()); => ;
TEST_CASE("service: where jobs go to children, an event that evaluates the tree moves all whose factor it changed") {
    auto s = routing_service();
    const std::uint32_t first = pushed_at(*s, 1).at(2);
    s->apply(started(3, 1.5, 64));
    s->pass(at(1.5), Pass::marked);  // so soon the tree is not evaluated again
    CHECK(push(*s).empty());
    submit_pending(*s, 4, bob);
    s->pass(at(10), Pass::marked);
    const auto pushed = push(*s);
    const std::map<std::uint64_t, std::uint32_t> values(pushed.begin(), pushed.end());
    REQUIRE(values.count(2) == 1);
    CHECK(values.at(2) < first);
    CHECK(values.at(2) < values.at(4));
    s->apply(started(4, 10.5, 6400));
    CHECK(pushed_at(*s, 12, Pass::marked).count(2) == 1);  // no job of alice began or ended
}

// Kills: usage that is reported soon after an evaluation waits for the next event or full pass: jobs of an account that
// has begun to use cores stay before those of one that has not.
// Mutant: modules/job-priority/ranking/ranking.hpp: uncounted_.insert(factor); => ;
// Mutant: modules/job-priority/priority_service.cpp: !(due && now >= *due) => true
TEST_CASE("service: usage that came too soon after an evaluation has one at the end of the pause, without an event") {
    auto s = routing_service();
    const std::uint32_t first = pushed_at(*s, 1).at(2);
    CHECK_FALSE(s->evaluation_due());
    s->apply(started(3, 1.5, 64));
    s->pass(at(1.5), Pass::marked);
    CHECK(push(*s).empty());
    const Instant due = at(1) + s->settings().update_interval / 30;
    CHECK(s->evaluation_due() == due);
    s->pass(due - Duration{1}, Pass::marked);
    CHECK(push(*s).empty());
    s->pass(due, Pass::marked);
    CHECK_FALSE(s->evaluation_due());
    const auto pushed = push(*s);
    REQUIRE(pushed.size() == 1);
    CHECK(pushed.front().first == 2);
    CHECK(pushed.front().second < first);
    s->apply(started(1, 2.5, 64));
    s->apply(started(2, 2.5, 64));
    CHECK_FALSE(s->evaluation_due());  // no job waits
}

// Kills: a timer of the last journal has jobs admitted in the midst of the backlog of the next one.
// Mutant: modules/job-priority/priority_service.cpp: !is_synced_ || => false ||
TEST_CASE("service: during a backlog a pass of marked jobs does nothing") {
    auto s = routing_service();
    pushed_at(*s, 1);
    s->apply(started(3, 1.5, 64));
    submit_pending(*s, 4, bob);
    s->begin_backlog();
    CHECK_FALSE(s->evaluation_due());
    s->pass(at(10), Pass::marked);
    CHECK(push(*s).empty());
}

namespace {

/// alice and bob have an account each, a running job to come (1, 2) and a waiting one (11, 12).
std::unique_ptr<PriorityService> two_accounts(config::PushRule rule) {
    Settings with = settings();
    with.push = rule;
    with.billing.charging = Charging::at_dispatch;
    auto made = service(false, with);
    put_tree(*made, "\"physics\" = 1\n\"physics/@alice\" = 1\n\"bio\" = 1\n\"bio/@bob\" = 1\n");
    made->begin_backlog();
    made->end_backlog(at(0));
    for (const auto& [id, user] : {std::pair{1, alice}, {2, bob}, {11, alice}, {12, bob}}) {
        JobRequest request;
        request.wall_time = std::chrono::hours(24);
        submit_pending(*made, static_cast<FluxJobId>(id), user, std::move(request));
    }
    return made;
}

}  // namespace

// Kills: an event in the pause uses up the mark of its factor, and the evaluation after the pause changes the factor
// without another mark: the jobs of an account that has begun to use cores keep their values until the full pass.
// Mutant: modules/job-priority/ranking/ranking.cpp: queue_.mark_factor(factor); => ;
TEST_CASE("service: what came too soon is counted for the jobs that share the factor, with numbers and order too") {
    const auto rule = GENERATE(config::PushRule::numbers, config::PushRule::order);
    auto s = two_accounts(rule);
    pushed_at(*s, 1);
    s->apply(started(1, 1.5, 64));
    s->pass(at(1.5), Pass::marked);
    (void)push(*s);
    s->pass(at(2), Pass::marked);
    (void)push(*s);
    s->apply(started(2, 2.5, 256));
    s->pass(at(2.5), Pass::marked);
    (void)push(*s);
    CHECK(s->evaluation_due() == at(3));
    const auto pushed = pushed_at(*s, 3, Pass::marked);
    REQUIRE(pushed.count(12) == 1);
    const auto full = pushed_at(*s, 3);
    CHECK((full.count(12) == 0 || full.at(12) == pushed.at(12)));
}

// Mutant: modules/job-priority/ranking/ranking.hpp: shares_.are_parents() && order_.is_sum() => false
TEST_CASE("service: usage in a child that takes its parent's factors has no evaluation of its own tree") {
    auto s = service(true);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->take_parent_factors({{alice, "alice", "physics/lattice", 0.5, true}, {bob, "bob", "bio", 0.7, true}}, true);
    submit_pending(*s, 1, alice);
    submit_pending(*s, 2, bob);
    s->pass(at(1));
    s->apply(started(1, 1.5, 64));
    s->pass(at(1.5), Pass::marked);
    CHECK_FALSE(s->evaluation_due());
}

// Kills: a job keeps the parent's factor that it had before the parent sent its own, or before it changed its account.
// Mutant: modules/job-priority/jobs/job_book.cpp: job.factor_basis = 0; =>
// Mutant: modules/job-priority/ranking/parent_factors.hpp: return factors_.size(); => return 1;
TEST_CASE("service: a job has the parent's factor of its account, also of a later row and of another account") {
    auto s = service(true);
    put_tree(*s);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->take_parent_factors({{bob, "bob", "bio", 0.7, true}}, true);
    submit_pending(*s, 1, alice);
    s->pass(at(1));
    const auto factor = [&] { return s->ranking().factors()[s->ranking().queue().factor_of(1)]; };
    CHECK(factor() == 0.);
    s->take_parent_factors({{alice, "alice", "physics/lattice", 0.5, true}, {alice, "alice", "bio", 0.25, false}},
                           false);
    CHECK(factor() == 0.5);
    UpdateEvent event;
    event.account = "bio";
    s->apply({1, at(2), event});
    CHECK(factor() == 0.25);
}

// Kills: with order, where jobs go to children, each evaluation sends nearly every value at once, past the pace.
// Mutant: modules/job-priority/ranking/pending_queue_pass.cpp: (has_order() && !is_routed_) => has_order()
TEST_CASE("service: with order, values for children that an evaluation changed are paced") {
    Settings order = settings();
    order.push = config::PushRule::order;
    auto s = routing_service(order);
    pushed_at(*s, 1);
    s->apply(started(3, 1.5, 64));
    s->pass(at(3), Pass::marked);
    CHECK(s->sends().plugin().has_work() == false);
    CHECK(s->sends().plugin().has_shown());
    submit_pending(*s, 4, bob);
    s->pass(at(3.5), Pass::marked);
    CHECK(s->sends().plugin().has_work());
}
