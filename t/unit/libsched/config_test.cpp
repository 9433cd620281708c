// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/config/settings.hpp"

#include <catch2/catch.hpp>

#include "libsched/config/policy_keys.hpp"

using namespace weir;
using Catch::Matchers::Contains;

namespace {

Result<config::Settings> read(const std::string& toml) {
    return config::read_settings_toml(toml, "site.toml");
}

std::string complaint(const std::string& toml) {
    const auto settings = read(toml);
    return settings ? "" : settings.error().message;
}

std::string warned(const std::string& toml, const SiteFacts& facts = {}) {
    const auto settings = read(toml);
    INFO(complaint(toml));
    REQUIRE(settings);
    std::string all;
    for (const std::string& sentence : policy_warnings(*settings, facts)) {
        all += sentence + "\n";
    }
    return all;
}

}  // namespace

TEST_CASE("configuration: what is not in [weir] is others' business, and nothing is the default") {
    CHECK(read("[queues.batch]\nx = 1\n").value() == config::Settings{});
    CHECK(warned("") == "");
}

TEST_CASE("configuration: every policy's keys are read") {
    const auto s = read(R"(
[weir]
policy = "moab"
update-interval = 0
decay = "window"
window = { interval = "12h", depth = 14, factor = 0.5 }
usage-reset = "monthly"
size-rule = "over-time"
rounding = "down"
[weir.lsf]
cpu-time-factor = 1
run-time-factor = 2
committed-run-time-factor = 0.5
run-job-factor = 4
hist-hours = 0
hist-run-time = true
[weir.moab]
ratio = true
xfactor-shortest = "5m"
[weir.moab.fairshare]
weight = 10
cap = 100
user = { weight = 5, cap = 20 }
account = -3
[weir.moab.users."*"]
target = 10
[weir.moab.users.john]
target = "16.5+"
priority = 7
[weir.moab.accounts.marketing]
cap = "16500^"
[weir.load-threshold]
per-minute = 2
threshold = 60
score-min = 0.1
)");
    INFO((s ? std::string() : s.error().message));
    REQUIRE(s);
    CHECK(s->policy == PolicyKind::moab);
    CHECK(s->update_interval == Duration{});
    CHECK(s->window == WindowPolicy{std::chrono::hours(12), 14, 0.5});
    CHECK(s->usage_reset == ResetPeriod::monthly);
    CHECK(s->size_rule == SizeRule::over_time);
    CHECK(s->rounding == Rounding::down);
    CHECK(s->lsf.factors == LsfFactors{1, 2, 0.5, 4});
    CHECK(s->lsf.history.hist_hours == 0);
    CHECK(s->lsf.history.enable_hist_run_time);
    const auto& fairshare = s->moab.components[static_cast<std::size_t>(MoabComponent::fairshare)];
    CHECK(fairshare.weight == 10);
    CHECK(fairshare.cap == 100);
    CHECK(fairshare.parts[0] == MoabPolicy::Part{5, 20});
    CHECK(fairshare.parts[2] == MoabPolicy::Part{-3, 0});
    CHECK(s->moab.is_ratio);
    CHECK(s->moab.xfactor_shortest == std::chrono::minutes(5));
    CHECK(s->moab.credentials[0].at("*").target == FairShareTarget{TargetKind::target, 10});
    CHECK(s->moab.credentials[0].at("john").target == FairShareTarget{TargetKind::floor, 16.5});
    CHECK(s->moab.credentials[0].at("john").priority == 7);
    CHECK(s->moab.credentials[2].at("marketing").cap->value == 16500);
    CHECK(s->load_threshold.rule == LoadThreshold{2, 60, 0.1});
}

TEST_CASE("configuration: Moab counts windows unless told otherwise, the others by half-life") {
    CHECK(read("weir.policy = 'moab'").value().decay == DecayKind::window);
    CHECK(read("weir = {policy = 'moab', decay = 'half-life'}").value().decay == DecayKind::half_life);
    CHECK(read("weir.policy = 'lsf'").value().decay == DecayKind::half_life);
}

TEST_CASE("configuration: all mistakes are told at once, each with its key and what is right") {
    const std::string told = complaint(R"(
[weir]
policy = "lottery"
algorithm = "fair-tre"
usage-reset = "hourly"
[weir.moab.fairshare]
user = "much"
projct = 1
[weir.moab.users.john]
target = "120"
cap = "many"
[weir.lsf]
hist-hour = 5
committed-run-time-factor = 2
)");
    CHECK_THAT(told, Contains("policy = \"lottery\"") && Contains("load-threshold"));
    CHECK_THAT(told, Contains("fair-tre") && Contains("fair-tree-as-slurm"));
    CHECK_THAT(told, Contains("usage-reset") && Contains("quarterly"));
    CHECK_THAT(told, Contains("moab.fairshare.user = \"much\""));
    CHECK_THAT(told, Contains("moab.fairshare.projct") && Contains("account"));
    CHECK_THAT(told, Contains("moab.users.john.target = \"120\"") && Contains("16.5+"));
    CHECK_THAT(told, Contains("moab.users.john.cap") && Contains("16500^"));
    CHECK_THAT(told, Contains("lsf.hist-hour =") && Contains("hist-hours"));
    CHECK_THAT(told, Contains("committed-run-time-factor = 2") && Contains("from 0 to 1"));
    CHECK_THAT(complaint("[weir\n"), Contains("site.toml:1"));
}

// Kills: `heeds` answering true for all; one policy's bit given to another key.
TEST_CASE("warnings: keys of another policy, each with those that heed it") {
    CHECK_THAT(warned("[weir]\npolicy = 'fcfs'\nhalf-life = '1d'\n"),
               Contains("half-life") && Contains("fcfs") && Contains("moab, multifactor"));
    CHECK_THAT(warned("weir.lsf.hist-hours = 3"), Contains("\"lsf\" has no effect") && Contains("multifactor"));
    CHECK_THAT(warned("[weir]\npolicy = 'lsf'\nalgorithm = 'fair-tree'\n"), Contains("algorithm"));
    CHECK(warned("[weir]\npolicy = 'lsf'\n[weir.queues.a]\npriority = 3\n") == "");
    CHECK(warned("[weir]\npolicy = 'fcfs'\nupdate-interval = '1s'\n") == "");
}

TEST_CASE("warnings: what can have no effect under its own policy") {
    const std::string none = "[weir.weights]\nwait=0\nfairshare=0\nqos=0\nqueue=0\nsize=0\nuser=0\n";
    CHECK_THAT(warned(none), Contains("all weights are 0"));
    CHECK_THAT(warned("weir.weights.qos = 5"), Contains("weights.qos has no effect"));
    CHECK_THAT(warned("weir.weights.fairshare = 0"), Contains("fair share is 0"));
    CHECK_THAT(warned("weir = {wait-max = '1d', weights = {wait = 0}}"), Contains("\"wait-max\" has no effect"));
    CHECK_THAT(warned("weir = {decay = 'none', half-life = '1d'}"),
               Contains("\"half-life\" has no effect") && Contains("neither decays nor is reset"));
    CHECK_THAT(warned("[weir]\npolicy='lsf'\nlsf={cpu-time-factor=0,run-time-factor=0,run-job-factor=0}\n"),
               Contains("all factors"));
    CHECK_THAT(warned("[weir]\npolicy='lsf'\nlsf={cpu-time-factor=0,hist-hours=3}\n"),
               Contains("hist-hours has no effect"));
    CHECK_THAT(warned("[weir]\npolicy='moab'\nmoab={fairshare={user=5}}\n"), Contains("no target is given"));
    CHECK_THAT(warned("[weir]\npolicy='moab'\nmoab={users={john={target=5}}}\n"), Contains("its weight is 0"));
    CHECK_THAT(warned("[weir]\npolicy='moab'\nmoab={fairshare={weight=0,user=5},users={john={target=5}}}\n"),
               Contains("its weight is 0, so its parts have no effect"));
    CHECK_THAT(warned("[weir]\npolicy='load-threshold'\nload-threshold={per-minute=0}\n"),
               Contains("no priority grows"));
}

TEST_CASE("warnings: what the site's jobs make of it") {
    SiteFacts facts;
    facts.wall_limit_max = std::chrono::hours(48);
    facts.queues = std::set<std::string>{"batch"};
    CHECK_THAT(warned("weir.half-life = '1d'", facts), Contains("shorter than the longest wall limit"));
    CHECK(warned("weir.half-life = '3d'", facts) == "");
    CHECK_THAT(warned("weir.queues.debug.priority = 4", facts), Contains("no job names one of them"));
    CHECK(warned("weir.queues.batch.priority = 4", facts) == "");
    CHECK_THAT(warned("[weir]\npolicy='moab'\nwindow={interval='1h',depth=2}\n"
                      "moab={fairshare={user=5},users={john={target=5}}}\n",
                      facts),
               Contains("the window"));
}

// Kills: a key that is read but has no row for its policies (an unknown name counts as heeded by all).
TEST_CASE("configuration: each key is heeded by some policy and named in what is refused") {
    const std::string names = config::policy_key_names();
    for (const char* key : {"policy", "algorithm", "decay", "half-life", "window", "usage-reset", "weights", "queues",
                            "lsf", "moab", "load-threshold"}) {
        CHECK_THAT(names, Contains(key));
        CHECK_FALSE(config::heeding(key).empty());
    }
    CHECK_THAT(complaint("weir.polcy = 'lsf'"), Contains("polcy") && Contains(names) && Contains("share-tree"));
}
