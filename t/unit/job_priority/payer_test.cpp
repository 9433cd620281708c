// SPDX-License-Identifier: LGPL-3.0-only
// Owns: who pays for a job where groups, queues and QoS stand in the tree; what else algorithms are told; resets.
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* mixed =
    "\"queue:debug\" = 1\n"
    "\"queue:debug/@alice\" = 1\n"
    "\"physics\" = 2\n"
    "\"physics/@alice\" = 1\n"
    "\"physics/qos:high\" = 1\n"
    "\"chem\" = 1\n"
    "\"chem/group:staff\" = 1\n"
    "\"chem/@bob\" = 1\n";

UserDatabase groups() {
    UserDatabase database = no_database();
    database.groups_of = [](const std::string& user) {
        return user == "carol" ? std::vector<std::string>{"users", "staff"} : std::vector<std::string>{};
    };
    return database;
}

std::unique_ptr<PriorityService> charging_service(const Settings& with, const char* tree = mixed) {
    auto made = std::make_unique<PriorityService>(with, groups(), owner, false);
    put_tree(*made, tree);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

void submit_request(PriorityService& s, FluxJobId id, std::uint32_t userid, const JobRequest& request, double t = 1) {
    s.apply({id, at(t), SubmitEvent{userid, 16, request}});
    s.apply(eligible(id, t));
}

void run(PriorityService& s, FluxJobId id, double from, double to, std::int64_t cores = 1) {
    s.apply(started(id, from, cores));
    s.apply(freed(id, to));
    s.apply(cleaned(id, to));
}

double factor(const PriorityService& s, const char* path) {
    return s.ranking().shares().standings().factor.at(s.accounting().tree().find(path)->value);
}

JobRequest in(std::string account, std::string queue = "", std::string qos = "", std::int64_t cores = 1) {
    JobRequest request;
    request.account = std::move(account);
    request.queue = std::move(queue);
    request.qos = std::move(qos);
    request.cores = cores;
    return request;
}

}  // namespace

TEST_CASE("payers: a job is charged below its own queue, QoS or group") {
    auto s = charging_service(settings());
    submit_request(*s, 1, alice, in("", "debug"));
    submit_request(*s, 2, alice, in("", "batch"));
    submit_request(*s, 3, alice, in("physics", "", "high"));
    submit_request(*s, 4, carol, in(""));
    submit_request(*s, 5, bob, in("", "debug"));
    for (FluxJobId id = 1; id <= 5; ++id) {
        run(*s, id, 2, 12, 1 << id);
    }
    CHECK(charged(*s, "queue:debug/@alice", 20) == 20'000'000);
    CHECK(charged(*s, "physics/@alice", 20) == 40'000'000);
    CHECK(charged(*s, "physics/qos:high", 20) == 80'000'000);
    CHECK(charged(*s, "chem/group:staff", 20) == 160'000'000);
    CHECK(charged(*s, "chem/@bob", 20) == 320'000'000);
    CHECK(charged(*s, "", 20) == 0);
}

TEST_CASE("payers: a pending job that changes its queue uses the other share") {
    auto s = charging_service(settings());
    submit_request(*s, 1, alice, in("", "batch"));
    const auto share = [&] { return s->ranking().queue().factor_of(1); };
    CHECK(share() == s->accounting().tree().find("physics/@alice")->value);
    s->apply({1, at(2), UpdateEvent{std::nullopt, "debug", std::nullopt, std::nullopt}});
    CHECK(share() == s->accounting().tree().find("queue:debug/@alice")->value);
}

TEST_CASE("payers: a restart keeps what groups, queues and QoS used") {
    auto s = charging_service(settings());
    submit_request(*s, 1, alice, in("physics", "", "high"));
    run(*s, 1, 2, 12);
    MemoryStore store;
    store.apply(s->take_batch());
    PriorityService again(settings(), groups(), owner, false);
    REQUIRE(again.restore(store.saved(), at(20)));
    CHECK(charged(again, "physics/qos:high", 20) == 10'000'000);
}

TEST_CASE("payers: the plugin lets in who may be in a group, a queue or a QoS of an account") {
    auto s = charging_service(settings());
    const AccountsView view = accounts(*s);
    CHECK(view.open_accounts == std::vector<std::string>{"physics", "chem"});
    for (const AccountsView::User& user : view.users) {
        if (user.name == "alice") {
            CHECK(user.default_account);
            CHECK(user.accounts == std::vector<std::string>{"physics", "physics", "chem"});
        }
    }
}

TEST_CASE("dynamic-user: a dispatch lowers the user at once, before anything was used") {
    Settings with = settings();
    with.algorithm = "dynamic-user";
    auto s = charging_service(with, "\"a\" = 1\n\"a/@alice\" = 1\n\"a/@bob\" = 1\n");
    submit_request(*s, 1, alice, in(""));
    submit_request(*s, 2, bob, in(""));
    s->pass(at(2));
    CHECK(factor(*s, "a/@alice") == factor(*s, "a/@bob"));
    s->apply(started(1, 2, 1));
    s->pass(at(2));
    CHECK(factor(*s, "a/@alice") < factor(*s, "a/@bob"));
    const auto view = share_explain_view(*s, "a/@alice", at(2));
    REQUIRE(view);
    const json_t* level = json_array_get(json_object_get(view->get(), "levels"), 1);
    CHECK(json_number_value(json_object_get(level, "level_fs")) == Approx(1. / (2 * 3.0)));  // shares / (1 + slots) * 3
}

TEST_CASE("dynamic-user: divisor as LSF writes it, from finished and running jobs") {
    Settings with = settings();
    with.algorithm = "dynamic-user";
    with.lsf.history.hist_hours = 0;
    with.lsf.history.enable_hist_run_time = true;
    auto s = charging_service(with, "\"a\" = 1\n\"a/@alice\" = 1\n\"a/@bob\" = 1\n");
    submit_request(*s, 1, alice, in(""));
    run(*s, 1, 0, 3600, 2);  // two core-hours of history
    submit_request(*s, 2, alice, in(""));
    s->apply(started(2, 3600, 4));
    const Measured measured = measured_at(*s, at(7200));
    const DynamicUse& use = measured.dynamic.at(s->accounting().tree().find("a/@alice")->value);
    CHECK(use.cpu_time_h == Approx(6));
    CHECK(use.run_time_h == Approx(4));
    CHECK(use.hist_run_time_h == Approx(2));
    CHECK(use.job_slots == 4);
    CHECK(measured.dynamic.at(s->accounting().tree().find("a")->value).job_slots == 4);
}

// Mutant: modules/job-priority/messages/views_share.cpp: use.cpu_time_h += job.cores => use.cpu_time_h += 0 * job.cores
TEST_CASE("dynamic-user: `share after` tells the factors and ranks that such a job leaves") {
    Settings with = settings();
    with.algorithm = "dynamic-user";
    with.lsf.history.hist_hours = 0;
    with.lsf.history.enable_hist_run_time = GENERATE(false, true);
    with.lsf.history.counts_cpus = GENERATE(false, true);
    auto s = charging_service(with, "\"a\" = 1\n\"a/@alice\" = 1\n\"a/@bob\" = 1\n\"b\" = 1\n\"b/@bob\" = 1\n");
    const auto told = [&](const char* key, Instant now) {
        const auto view = share_after_view(*s, "a/@alice", {8, std::chrono::hours(1)}, now);
        REQUIRE(view);
        return json_number_value(json_object_get(view->get(), key));
    };
    const double factor_after = told("factor_after", at(1));
    const double rank_after = told("rank_after", at(1));
    CHECK(factor_after < told("factor", at(1)));
    submit_request(*s, 1, alice, in(""));
    run(*s, 1, 2, 3602, 8);
    CHECK(told("factor", at(3602)) == factor_after);
    CHECK(told("rank", at(3602)) == rank_after);
}

TEST_CASE("demand-capped: running and waiting cores are the demand, summed up the tree") {
    Settings with = settings();
    with.algorithm = "demand-capped";
    auto s = charging_service(with, "\"a\" = 1\n\"a/@alice\" = 1\n\"a/@bob\" = 1\n");
    submit_request(*s, 1, alice, in("", "", "", 3));
    submit_request(*s, 2, alice, in("", "", "", 5));
    submit_request(*s, 3, bob, in("", "", "", 7));
    s->apply(started(1, 2, 3));
    const Measured measured = measured_at(*s, at(3));
    const auto demand = [&](const char* path) {
        return measured.demand.at(path == std::string() ? 0 : s->accounting().tree().find(path)->value);
    };
    CHECK(demand("a/@alice") == 8);
    CHECK(demand("a/@bob") == 7);
    CHECK(demand("a") == 15);
    CHECK(demand("") == 15);
}

TEST_CASE("usage reset: at the boundary, whoever looks when, across a restart, and never what was charged") {
    Settings with = settings();
    with.usage_reset = ResetPeriod::daily;  // at() counts from midnight UTC
    const auto usage = [](const PriorityService& s, double t) {
        const UsageLedger& ledger = s.accounting().ledger();
        return core_seconds(ledger.usage(*ledger.tree().find("chem/@bob"), at(t)));
    };
    constexpr double day = 86400;
    auto s = charging_service(with);
    submit_request(*s, 1, bob, in(""));
    submit_request(*s, 2, bob, in(""));
    run(*s, 1, 10, 1010);
    s->pass(at(day - 1));
    CHECK(usage(*s, day - 1) > 900);
    s->apply(started(2, day - 100, 1));
    s->apply(freed(2, day + 50));  // the first news of the new day: 50 seconds are its own
    CHECK(usage(*s, day + 50) == Approx(50).epsilon(0.001));
    CHECK(charged(*s, "chem/@bob", day + 50) == 1'150'000'000);
    s->pass(at(day + 60));
    CHECK(usage(*s, day + 60) == Approx(50).epsilon(0.001));

    SavedState saved;
    const StateBatch batch = s->take_batch();
    REQUIRE(batch.checkpoint);
    saved.meta = *batch.meta;
    saved.revisions = batch.revisions;
    saved.ledger = *batch.checkpoint;
    PriorityService again(with, groups(), owner, false);
    REQUIRE(again.restore(saved, at(day + 70)));
    again.begin_backlog();
    again.end_backlog(at(day + 70));
    again.pass(at(day + 70));
    CHECK(usage(again, day + 70) == Approx(50).epsilon(0.001));
    again.pass(at(2 * day));
    CHECK(usage(again, 2 * day) == 0);
}

TEST_CASE("usage reset: a day begins by the site's clock") {
    Settings with = settings();
    with.usage_reset = ResetPeriod::daily;
    auto s = charging_service(with);
    s->set_utc_offset(2h);
    submit_request(*s, 1, bob, in(""));
    run(*s, 1, 10, 1010);
    s->pass(at(21 * 3600));
    CHECK_FALSE(s->take_was_reset());
    const auto usage = [&](double t) { return s->accounting().ledger().usage(root_node, at(t)); };
    CHECK(usage(21 * 3600) > 0);
    s->pass(at(22 * 3600));
    CHECK(usage(22 * 3600) == 0);
    CHECK(s->take_was_reset());
    CHECK_FALSE(s->take_was_reset());
}

TEST_CASE("no decay: history stays whole through a restart and a change to a half-life") {
    Settings with = settings();
    with.decay = DecayKind::none;
    auto s = charging_service(with);
    submit_request(*s, 1, bob, in(""));
    run(*s, 1, 0, 1000);
    const auto usage = [](const PriorityService& from, double t) {
        return core_seconds(from.accounting().ledger().usage(root_node, at(t)));
    };
    CHECK(usage(*s, 1e7) == Approx(1000));
    s->log().want_checkpoint();
    SavedState saved;
    const StateBatch batch = s->take_batch();
    saved.meta = *batch.meta;
    saved.revisions = batch.revisions;
    saved.ledger = *batch.checkpoint;
    PriorityService again(with, groups(), owner, false);
    REQUIRE(again.restore(saved, at(2000)));
    CHECK(usage(again, 1e7) == Approx(1000));
    Settings halved = with;
    halved.decay = DecayKind::half_life;
    halved.half_life = 1000s;
    again.configure(halved, at(2000));
    CHECK(usage(again, 3000) == Approx(500).epsilon(0.001));
}

TEST_CASE("when: the older job stops gaining at the maximum, then the younger and more urgent one passes it") {
    Settings with = settings();
    with.wait_max = 1h;
    with.wait_after = {.time = {}};
    with.weights.wait = 36000;  // ten a second
    auto s = charging_service(with, "\"a\" = 1\n\"a/@alice\" = 1\n\"a/@bob\" = 1\n");
    submit_request(*s, 1, alice, in(""), 0);
    submit_request(*s, 2, bob, in(""), 100);
    s->apply(urgency(2, 100, 17));  // 1000/29 more
    s->pass(at(200));
    const auto view = when_view(*s, 2, 1, at(200));
    REQUIRE(view);
    CHECK(json_integer_value(json_object_get(view->get(), "ahead")) == 1);
    const json_t* list = json_object_get(view->get(), "crossings");
    REQUIRE(json_array_size(list) == 1);
    const json_t* crossing = json_array_get(list, 0);
    CHECK(json_integer_value(json_object_get(crossing, "ahead")) == 2);
    const double passes_at = json_number_value(json_object_get(crossing, "at")) - to_seconds(at(0));
    CHECK(passes_at == Approx(3700 - 100. / 29).margin(0.2));  // to the rounding of a priority
    CHECK_FALSE(when_view(*s, 1, 1, at(200)));
    const auto unknown = when_view(*s, 1, 99, at(200));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code == std::errc::no_such_file_or_directory);
}

namespace {

/// A user database that may fail, and may not know anybody yet.
struct Moody {
    bool is_failing = false;
    bool is_empty = false;
    int asked = 0;

    UserDatabase database() {
        UserDatabase made = no_database();
        made.name_of = [this](std::uint32_t userid) -> Result<std::optional<std::string>> {
            asked += 1;
            if (is_failing) {
                return Error{std::errc::io_error, "getpwuid_r: Input/output error"};
            }
            return userid == 7001 && !is_empty ? std::optional<std::string>("dora") : std::nullopt;
        };
        made.groups_of = [this](const std::string& user) -> Result<std::vector<std::string>> {
            if (is_failing) {
                return Error{std::errc::io_error, "getgrgid_r: Input/output error"};
            }
            return user == "dora" ? std::vector<std::string>{"staff"} : std::vector<std::string>{};
        };
        return made;
    }
};

constexpr const char* for_dora =
    "\"chem\" = 1\n\"chem/group:staff\" = 1\n\"bio\" = 1\n\"bio/@dora\" = 1\n\"bio/@*\" = 1\n";

}  // namespace

// Mutant: modules/job-priority/charges/membership.cpp: || version_ != payers_.version() =>
TEST_CASE("payer: while the user database fails nobody pays, then who should have, from the job's start on") {
    for (const char* account : {"chem", "bio"}) {
        Moody moody;
        moody.is_failing = true;
        PriorityService s(settings(), moody.database(), owner, false);
        put_tree(s, for_dora);
        s.begin_backlog();
        s.end_backlog(at(0));
        const std::uint32_t nodes = s.accounting().tree().size();
        submit_request(s, 1, 7001, in(account));
        s.apply(started(1, 10, 2));
        submit_request(s, 2, 7001, in(account));
        s.pass(at(50));
        CHECK(charged(s, "", 100) == 180'000'000);
        CHECK(s.accounting().tree().size() == nodes);
        CHECK(s.users().take_problem());
        CHECK_FALSE(s.users().take_problem());
        CHECK(moody.asked <= 2);  // once, and once again at the pass
        moody.is_failing = false;
        s.pass(at(100));
        const std::string payer = account == std::string("chem") ? "chem/group:staff" : "bio/@dora";
        CHECK(charged(s, "", 200) == 0);
        CHECK(charged(s, payer, 200) == 380'000'000);
        CHECK(s.book().find(2)->payer == *s.accounting().tree().find(payer));
        s.apply(freed(1, 210));
        CHECK(charged(s, payer, 900) == 400'000'000);
    }
}

TEST_CASE("payer: who was known stays so while the user database fails, through a reload as well") {
    Moody moody;
    PriorityService s(settings(), moody.database(), owner, false);
    put_tree(s, for_dora);
    s.begin_backlog();
    s.end_backlog(at(0));
    submit_request(s, 1, 7001, in("chem"));
    moody.is_failing = true;
    s.configure(settings(), at(20));
    s.apply(started(1, 30, 2));
    CHECK(charged(s, "chem/group:staff", 100) == 140'000'000);
    CHECK(s.users().name(7001) == "dora");
    CHECK(s.users().take_problem());
}

TEST_CASE("payer: whom the database did not have yet is asked for again, and pays by name from then on") {
    Moody moody;
    moody.is_empty = true;
    PriorityService s(settings(), moody.database(), owner, false);
    put_tree(s, for_dora);
    s.begin_backlog();
    s.end_backlog(at(0));
    submit_request(s, 1, 7001, in("bio"));
    CHECK(s.users().name(7001) == "7001");
    CHECK_FALSE(s.users().take_problem());
    const int asked = moody.asked;
    CHECK(s.users().name(7001) == "7001");
    CHECK(moody.asked == asked);
    moody.is_empty = false;
    s.pass(at(50));
    CHECK(s.book().find(1)->payer == *s.accounting().tree().find("bio/@dora"));
}

// Mutant: modules/job-priority/jobs/user_names.cpp: if (!known.was_answered || !user_name_error(known.value).empty()) {
// => if (!known.was_answered) {
TEST_CASE("payers: who has a name that no line can have is a member by his id") {
    UserDatabase database = no_database();
    database.name_of = [](std::uint32_t userid) -> Result<std::optional<std::string>> {
        return userid == 7000 ? std::optional<std::string>("o'brien") : std::nullopt;
    };
    UserNames users(database, {{"a b", 7001}, {"carol", 7002}});
    CHECK(users.name(7000) == "7000");
    CHECK(users.name(7001) == "7001");
    CHECK(users.name(7002) == "carol");
    CHECK(users.is_known(7000));
    CHECK(users.is_known(7001));
    CHECK_FALSE(users.is_known(7003));
    CHECK(users.id("a b") == 7001);
    CHECK(users.id("7000") == 7000);
}
