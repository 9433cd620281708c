// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/metrics_view.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

void submit(PriorityService& s, FluxJobId id, double t, std::uint32_t userid, std::string account = "") {
    s.apply(submitted(id, t, userid, std::move(account)));
    s.apply(eligible(id, t));
}

std::map<std::uint64_t, std::uint32_t> by_id(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& pushed) {
    return {pushed.begin(), pushed.end()};
}

Json parsed_metrics(const std::string& text) {
    auto json = Json::parse(text);
    REQUIRE(json);
    return std::move(*json);
}

}  // namespace

TEST_CASE("service: equal shares and no usage give every user the balanced factor") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    submit(*s, 2, 1, bob);
    s->pass(at(2));
    const auto pushed = by_id(push(*s));
    CHECK(pushed.at(1) == pushed.at(2));
}

TEST_CASE("service: a new job is evaluated at once, the others are not touched") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->pass(at(2));
    push(*s);
    submit(*s, 2, 1000000, bob);
    s->pass(at(1000000), Pass::marked);
    const auto pushed = by_id(push(*s));
    CHECK(pushed.size() == 1);
    CHECK(pushed.count(2) == 1);
}

TEST_CASE("service: usage lowers the account's jobs, and only changes are sent") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    submit(*s, 2, 1, bob);
    submit(*s, 3, 1, alice);
    s->apply(started(3, 2, 4));
    s->pass(at(10000));
    const auto pushed = by_id(push(*s));
    CHECK(pushed.at(1) < pushed.at(2));
    CHECK(pushed.count(3) == 0);
    s->pass(at(10000));
    CHECK(push(*s).empty());
}

TEST_CASE("service: the wait factor stops at its maximum") {
    auto s = ready_service();
    submit(*s, 1, 0, alice);
    const double week = 7 * 86400;
    s->pass(at(week));
    const auto at_maximum = push(*s).front().second;
    s->pass(at(10 * week));
    CHECK(push(*s).empty());
    CHECK(s->sends().plugin().pushed(1) == at_maximum);
}

TEST_CASE("service: held and expedited jobs get no value, and the plugin is told that they need none") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    submit(*s, 2, 1, alice);
    s->apply(urgency(1, 2, urgency_held));
    s->apply(urgency(2, 2, urgency_expedited));
    s->pass(at(3));
    CHECK(by_id(push(*s)) == std::map<std::uint64_t, std::uint32_t>{{1, Push::overridden}, {2, Push::overridden}});
    s->pass(at(3));
    CHECK(push(*s).empty());
    // Both in one turn: no pass saw the job in between, the plugin holds it once more.
    s->apply(urgency(2, 3, 16));
    s->apply(urgency(2, 3, urgency_expedited));
    s->pass(at(3), Pass::marked);
    CHECK(by_id(push(*s)) == std::map<std::uint64_t, std::uint32_t>{{2, Push::overridden}});
    s->apply(urgency(1, 4, 16));
    s->pass(at(4), Pass::marked);
    CHECK(push(*s).size() == 1);
}

TEST_CASE("service: a job's charge is cores times the seconds from alloc to free") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 4));
    CHECK(charged(*s, "physics/lattice/@alice", 15) == 20'000'000);
    s->apply(freed(1, 20.5));
    CHECK(charged(*s, "physics/lattice/@alice", 99) == 42'000'000);
    CHECK(charged(*s, "physics", 99) == 42'000'000);
    s->apply(cleaned(1, 21));
    CHECK(s->book().size() == 0);
}

TEST_CASE("service: a job that is cleaned without having freed its resources is charged until then") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 4));
    const std::uint64_t events = s->counts().events;
    s->apply(cleaned(1, 20));
    CHECK(s->counts().events == events + 1);
    CHECK(charged(*s, "physics/lattice/@alice", 99) == 40'000'000);
    CHECK(s->accounting().running().empty());
    CHECK(s->book().size() == 0);
}

// Mutant: modules/job-priority/charges/job_charges.cpp: resumed_.insert(job.id); =>
TEST_CASE("service: what jobs hold while their broker is down is charged to nobody, once, and told in order of time") {
    auto s = service(true);
    put_tree(*s);
    for (const int life : {1, 2, 3}) {
        INFO(life);
        s->begin_backlog();
        for (const FluxJobId id : {1, 2}) {
            s->add_backlog({submitted(id, 1, alice), eligible(id, 1), started(id, 10, 2)});
            s->add_backlog({down(id, 20, 30), up(id, 50)});
        }
        s->end_backlog(at(55));
        CHECK(charged(*s, "physics/lattice/@alice", 60) == 2 * 2 * 20'000'000);
    }
    s->sends().uplink().queue().attached(0);
    const auto batch = s->sends().uplink().queue().next();
    REQUIRE(batch);
    std::vector<Instant> told;
    for (const UplinkRow& row : batch->records) {
        told.push_back(row.time);
    }
    CHECK(told == std::vector<Instant>{at(10), at(10), at(20), at(20), at(50), at(50)});
}

TEST_CASE("service: whoever has no association is charged to the bucket outside the tree") {
    auto s = ready_service();
    submit(*s, 1, 1, alice, "nowhere");
    s->apply(started(1, 10, 1));
    s->apply(freed(1, 20));
    CHECK(charged(*s, "", 99) == 10'000'000);
    CHECK(charged(*s, "physics", 99) == 0);
}

TEST_CASE("service: a member by @* gets a leaf of its own") {
    auto s = ready_service();
    submit(*s, 1, 1, carol);
    s->apply(started(1, 10, 1));
    s->apply(freed(1, 20));
    CHECK(charged(*s, "bio/@carol", 99) == 10'000'000);
}

TEST_CASE("service: events of a backlog that were charged already are not charged again") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 2));
    submit(*s, 2, 1, alice);
    s->apply(started(2, 10, 2));
    s->apply(freed(2, 20));
    s->begin_backlog();
    s->add_backlog({submitted(2, 1, alice), eligible(2, 1), started(2, 10, 2), freed(2, 20)});
    s->add_backlog({submitted(1, 1, alice), eligible(1, 1), started(1, 10, 2)});
    s->end_backlog(at(25));
    CHECK(charged(*s, "physics/lattice/@alice", 30) == 60'000'000);
}

TEST_CASE("service: a running job that the job-manager forgot ends where it was last seen") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 1));
    s->pass(at(30));
    s->begin_backlog();
    s->end_backlog(at(500));
    CHECK(charged(*s, "physics/lattice/@alice", 999) == 20'000'000);
    CHECK(s->charges().vanished() == 1);
}

// Kills: usage keyed by id alone (three mutants: charged jobs, running jobs, what vanished).
TEST_CASE("service: an id that is issued again is another job, and a job that runs again is charged again") {
    auto s = ready_service();
    const auto life = [&s](FluxJobId id, double submit, double alloc, double free) {
        s->add_backlog({submitted(id, submit, alice), eligible(id, submit), started(id, alloc, 1), freed(id, free),
                        cleaned(id, free)});
    };
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 1));
    s->apply(freed(1, 20));
    s->apply(cleaned(1, 20));
    submit(*s, 2, 2, alice);
    s->apply(started(2, 20, 1));
    s->pass(at(30));
    const auto total = [&s] { return charged(*s, "physics/lattice/@alice", 999) / 1'000'000; };

    // The job-manager went back: job 1 waits again and runs again, and the id of job 2 is that of another job.
    for (int reconnect = 0; reconnect < 2; ++reconnect) {
        s->begin_backlog();
        life(1, 1, 40, 45);
        life(2, 35, 50, 57);
        s->end_backlog(at(60));
        CHECK(total() == 10 + 10 + 5 + 7);
        CHECK(s->accounting().running().empty());
    }
    // Further back: the first run of job 1 is told once more.
    s->begin_backlog();
    life(1, 1, 10, 20);
    s->end_backlog(at(61));
    CHECK(total() == 32);
}

TEST_CASE("service: what an older version charged or ran stays known, whatever run the journal tells") {
    SavedState old;
    old.meta.instance = "x";
    old.running[1] = RunningRow{"bio/@bob", 1, at(10)};
    old.running[1].run.id = 1;
    old.charged[{2, {}, {}}] = at(5);
    old.revisions = {{1, at(0), "test", "", tree_text}};
    old.charges = {{"bio/@bob", 1, at(10)}};
    auto s = service();
    REQUIRE(s->restore(old, at(0)));
    s->begin_backlog();
    s->add_backlog({submitted(1, 1, bob), eligible(1, 1), started(1, 10, 1)});
    s->add_backlog({submitted(2, 1, bob), eligible(2, 1), started(2, 2, 1), freed(2, 5)});
    s->end_backlog(at(20));
    s->apply(freed(1, 30));
    CHECK(charged(*s, "bio/@bob", 99) == 20'000'000);
    CHECK(s->charges().vanished() == 0);
    const StateBatch batch = s->take_batch();
    CHECK(batch.charged.count({1, at(1), at(10)}) == 1);
}

TEST_CASE("service: a share tree is put in force only by accept, with all that was not written yet in its batch") {
    auto s = ready_service();
    (void)s->take_batch();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 1));
    auto proposal = s->propose({"\"bio\" = 1\n", "me", "", std::nullopt}, "t", at(20));
    REQUIRE(proposal);
    TreeChangeover failed = s->prepare(*proposal, at(20));
    CHECK(s->trees().in_force().revision == 1);
    CHECK(s->accounting().tree().find("physics"));
    CHECK(s->take_batch().payers.size() == 1);  // still to be written by itself
    const StateBatch batch = accept(*s, s->prepare(*proposal, at(20)));
    CHECK(batch.revisions.size() == 1);
    CHECK(batch.checkpoint);
    CHECK(failed.batch.running.count(1) == 1);
    CHECK(s->trees().in_force().revision == 2);
    CHECK_FALSE(s->accounting().tree().find("physics"));
    CHECK_FALSE(s->log().is_dirty());
}

// Kills: a failed batch that makes the whole ledger due; the row of the older batch in place of the newer one.
TEST_CASE("service: a batch that could not be written goes with the next one, and costs no whole ledger") {
    auto s = ready_service();
    (void)s->take_batch();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 1));
    for (int tries = 0; tries < 3; ++tries) {
        StateBatch failed = s->take_batch();
        CHECK_FALSE(failed.checkpoint);
        REQUIRE(failed.payers.size() == 1);
        CHECK(failed.payers.begin()->second->rate == 1);
        s->log().untake(std::move(failed));
    }
    s->apply(freed(1, 30));
    const StateBatch written = s->take_batch();
    REQUIRE(written.payers.size() == 1);
    CHECK(written.payers.begin()->second->rate == 0);
    CHECK_FALSE(written.checkpoint);
    CHECK_FALSE(written.running.at(1));
}

TEST_CASE("service: a new tree moves usage with its user and tells the plugin who may submit") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 10, 1));
    const std::uint64_t version = s->accounts_version();
    put_tree(*s, "\"chemistry\" = 1\n\"chemistry/@alice\" = 1\n", 20);
    CHECK(s->accounts_version() != version);
    s->apply(freed(1, 30));
    CHECK(charged(*s, "chemistry/@alice", 99) == 20'000'000);
    const AccountsView view = accounts(*s);
    REQUIRE(view.users.size() == 1);
    CHECK(view.users[0].default_account == "chemistry");
    put_tree(*s, "\"a\" = 1\n\"a/b\" = 1\n\"a/b/@stranger\" = 1\n", 40);
    CHECK(accounts(*s).known_accounts == std::vector<std::string>{"a", "a/b", "b"});
}

TEST_CASE("service: routed jobs are charged where they run, not from the parent's journal") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply({1, at(10), AllocEvent{4, true}});
    s->apply(freed(1, 20));
    CHECK(charged(*s, "physics/lattice/@alice", 99) == 0);
}

TEST_CASE("service: explain adds up, ranks, and says what would help") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    submit(*s, 2, 1, bob, "bio");
    submit(*s, 3, 1, alice);
    s->apply(started(3, 2, 4));
    s->pass(at(10000));
    const auto view = explain_view(*s, 1, at(10000));
    REQUIRE(view);
    const json_t* terms = json_object_get(view->get(), "terms");
    double sum = 0;
    for (std::size_t i = 0; i < json_array_size(terms); ++i) {
        sum += json_number_value(json_object_get(json_array_get(terms, i), "contribution"));
    }
    CHECK(sum == Approx(json_number_value(json_object_get(view->get(), "priority"))).margin(0.51));
    CHECK(json_integer_value(json_object_get(view->get(), "rank")) == 2);
    CHECK(json_array_size(json_object_get(view->get(), "words")) >= 3);
    CHECK_FALSE(explain_view(*s, 99, at(10000)));
    CHECK(explain_view(*s, 3, at(10000)));
}

// Kills: a metric that is evaluated at each question, a label for each user.
TEST_CASE("service: metrics have the last evaluation's upper levels, and evaluate nothing") {
    auto s = ready_service();
    submit(*s, 1, 1, alice);
    s->apply(started(1, 71, 3));
    s->pass(at(110));
    const std::uint64_t evaluations = s->ranking().shares().evaluations();
    MetricsView metrics_of;
    const Json view = parsed_metrics(metrics_of.text(*s, {}));
    CHECK(s->ranking().shares().evaluations() == evaluations);
    CHECK(json_real_value(json_object_get(view.get(), "evaluated_at")) == to_seconds(at(110)));
    const Json tree = tree_view(*s, at(110));
    const auto same = [](const json_t* a, const json_t* b, const char* key) {
        return json_equal(json_object_get(a, key), json_object_get(b, key)) == 1;
    };
    std::size_t found = 0;
    for (const bool with_users : {false, true}) {
        const Json metrics = parsed_metrics(metrics_of.text(*s, {8, with_users}));
        const json_t* nodes = json_object_get(metrics.get(), "nodes");
        for (std::size_t i = 0; i < json_array_size(nodes); ++i) {
            const json_t* node = json_array_get(nodes, i);
            CHECK((with_users || std::string(json_string_value(json_object_get(node, "kind"))) == "account"));
            for (std::size_t j = 0; j < json_array_size(json_object_get(tree.get(), "nodes")); ++j) {
                const json_t* other = json_array_get(json_object_get(tree.get(), "nodes"), j);
                if (same(node, other, "path")) {
                    found += 1;
                    for (const char* key : {"entitled", "used", "usage_core_s", "level_fs", "running_cores"}) {
                        CHECK(same(node, other, key));
                    }
                    CHECK((!with_users || same(node, other, "factor")));
                }
            }
        }
        CHECK((!with_users || json_array_size(nodes) == json_array_size(json_object_get(tree.get(), "nodes"))));
    }
    CHECK(found > 4);
    const json_t* waits = json_object_get(view.get(), "waits");
    CHECK(json_real_value(json_object_get(waits, "sum_s")) == 70);
    CHECK(json_integer_value(json_array_get(json_object_get(waits, "counts"), 3)) == 1);  // from 60 s to 10 min
}

// Counts what the answer looks at: with 100,000 users it is the accounts' children, and it has few paths.
TEST_CASE("service: metrics of 100,000 associations have a bounded number of paths") {
    std::string text;
    for (int a = 0; a < 3000; ++a) {
        text += "\"a" + std::to_string(a) + "\" = 1\n";
        for (int u = 0; u < 34; ++u) {
            text += "\"a" + std::to_string(a) + "/@u" + std::to_string(u) + "\" = 1\n";
        }
    }
    auto s = service();
    put_tree(*s, text);
    s->begin_backlog();
    s->end_backlog(at(0));
    s->pass(at(10));
    const auto count = [](const Json& view, const char* key) {
        return json_integer_value(json_object_get(view.get(), key));
    };
    MetricsView view;
    const Json top = parsed_metrics(view.text(*s, {1, false}));
    CHECK(json_array_size(json_object_get(top.get(), "nodes")) == metric_paths_max);
    CHECK(count(top, "left_out") == 1000);
    CHECK(count(top, "visited") == 3000);
    const Json again = parsed_metrics(view.text(*s, {1, false}));
    CHECK((count(top, "written") == metric_paths_max && count(again, "visited") == 0 && count(again, "written") == 0));
    s->pass(at(20));
    const Json later = parsed_metrics(view.text(*s, {1, false}));
    CHECK((count(later, "visited") == 0 && count(later, "written") == metric_paths_max));
    put_tree(*s, "\"a\" = 1\n\"a/@alice\" = 1\n", 30);
    s->pass(at(31));
    const Json other = parsed_metrics(view.text(*s, {1, false}));
    CHECK((json_array_size(json_object_get(other.get(), "nodes")) == 1 && count(other, "left_out") == 0));
    put_tree(*s, text, 40);
    s->pass(at(41));
    const Json users = parsed_metrics(view.text(*s, {2, true}));
    CHECK(json_array_size(json_object_get(users.get(), "nodes")) == metric_paths_max);
}

TEST_CASE("wait histogram: bounds are included, a clock that stepped counts as no wait") {
    WaitHistogram waits;
    waits.add(std::chrono::seconds(10));
    waits.add(std::chrono::seconds(11));
    waits.add(std::chrono::seconds(-5));
    waits.add(std::chrono::hours(24 * 365));
    CHECK(waits.counts == decltype(waits.counts){1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1});
    CHECK(waits.sum_s == 21 + 365 * 86400.);
}

TEST_CASE("service: the tree view's users add up to their accounts and to the total") {
    auto s = ready_service();
    for (FluxJobId id = 1; id <= 3; ++id) {
        submit(*s, id, 1, id == 1 ? alice : id == 2 ? bob : 9999);
        s->apply(started(id, 10, static_cast<std::int64_t>(id)));
    }
    const Json view = tree_view(*s, at(110));
    json_int_t users =
        json_integer_value(json_object_get(json_object_get(view.get(), "unassociated"), "charged_core_us"));
    json_int_t accounts = users;
    const json_t* nodes = json_object_get(view.get(), "nodes");
    for (std::size_t i = 0; i < json_array_size(nodes); ++i) {
        const json_t* node = json_array_get(nodes, i);
        const json_int_t value = json_integer_value(json_object_get(node, "charged_core_us"));
        const std::string path = json_string_value(json_object_get(node, "path"));
        if (path.find('@') != std::string::npos) {
            users += value;
        } else if (path.find('/') == std::string::npos) {
            accounts += value;
        }
    }
    CHECK(users == 600'000'000);
    CHECK(accounts == 600'000'000);
}

TEST_CASE("service: an event of the backlog that cannot be applied costs itself alone, and is told") {
    UserDatabase database = no_database();
    database.name_of = [](std::uint32_t userid) -> std::optional<std::string> {
        if (userid == 13) {
            throw std::runtime_error("the user database is away");
        }
        return std::nullopt;
    };
    PriorityService s(settings(), database, owner, false);
    put_tree(s);
    s.begin_backlog();
    s.add_backlog({submitted(1, 1, alice), eligible(1, 2)});
    s.add_backlog({submitted(2, 1.5, 13), eligible(2, 2.5), started(2, 3, 4)});
    s.add_backlog({submitted(3, 4, bob), eligible(3, 5)});
    const auto faults = s.end_backlog(at(10));
    REQUIRE_FALSE(faults.empty());
    for (const std::string& fault : faults) {
        CHECK(fault.find("job 2: an event was not applied: the user database is away") == 0);
    }
    CHECK(s.is_synced());
    s.pass(at(11));
    const auto pushed = by_id(push(s));
    CHECK(pushed.count(1) == 1);
    CHECK(pushed.count(3) == 1);
}

TEST_CASE("service: a backlog admits members as the live stream did, each where his job was charged") {
    const auto events = [](FluxJobId id, std::uint32_t user) {
        return std::vector<JobEvent>{submitted(id, 10. + static_cast<double>(id), user),
                                     eligible(id, 10. + static_cast<double>(id))};
    };
    auto live = ready_service();
    auto late = service();
    put_tree(*late);
    late->begin_backlog();
    for (FluxJobId id = 1; id <= 4; ++id) {
        for (const JobEvent& event : events(id, 7000 + static_cast<std::uint32_t>(id % 3))) {
            live->apply(event);
        }
        late->add_backlog(events(id, 7000 + static_cast<std::uint32_t>(id % 3)));
    }
    late->end_backlog(at(100));
    CHECK(late->accounting().tree().extends(live->accounting().tree()));
    CHECK(live->accounting().tree().extends(late->accounting().tree()));
}
