// SPDX-License-Identifier: LGPL-3.0-only
#include "libsched/config/settings.hpp"

#include <catch2/catch.hpp>

#include "libfairshare/tree/share_tree_builder.hpp"
#include "libsched/config/engine_settings.hpp"
#include "libsched/config/policy_keys.hpp"
#include "libsched/config/reader.hpp"

using namespace weir;
using Catch::Matchers::Contains;

namespace {

Result<config::Settings> read_settings(const std::string& toml) {
    return config::read_settings_toml(toml, "site.toml");
}

std::string complaint(const std::string& toml) {
    const auto settings = read_settings(toml);
    return settings ? "" : settings.error().message;
}

std::string warned(const std::string& toml, const SiteFacts& facts = {}) {
    const auto settings = read_settings(toml);
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
    CHECK(read_settings("[queues.batch]\nx = 1\n").value() == config::Settings{});
    CHECK(warned("") == "");
}

TEST_CASE("configuration: every policy's keys are read") {
    const auto s = read_settings(R"(
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
    CHECK(read_settings("weir.policy = 'moab'").value().decay == DecayKind::window);
    CHECK(read_settings("weir.window = { factor = 0 }").value().window.factor == 0);
    CHECK(read_settings("weir = {policy = 'moab', decay = 'half-life'}").value().decay == DecayKind::half_life);
    CHECK(read_settings("weir.policy = 'lsf'").value().decay == DecayKind::half_life);
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
    for (const char* hours : {"0.00001", "-1", "1e9", "'5'"}) {  // the ledger takes no half-life below a second
        CHECK_THAT(complaint(std::string("[weir.lsf]\nhist-hours = ") + hours), Contains("from 0.001 to 876600"));
    }
    CHECK_THAT(complaint("[weir]\nwindow = { depth = 2.5 }\n"), Contains("window.depth") && Contains("whole"));
    CHECK_THAT(complaint("[weir\n"), Contains("site.toml:1"));
}

// Kills: `heeds` answering true for all; one policy's bit given to another key.
// Kills: the shorter of the two; an unlimited job whose wait never counts; "2d" leaving the default's limits; overflow.
TEST_CASE("configuration: wait counts after a time, or after so many of the job's time limits") {
    using namespace std::chrono_literals;
    const auto after = [](const std::string& value) {
        return read_settings("[weir]\nwait-after = " + value + "\n").value().wait_after;
    };
    CHECK(after("\"2d\"") == WaitAfter{48h, 0});
    CHECK(after("0") == WaitAfter{0h, 0});
    CHECK(after("{ limits = 2.5 }") == WaitAfter{WaitAfter{}.time, 2.5});
    const WaitAfter both = after("{ time = \"10h\", limits = 5 }");
    CHECK(both == WaitAfter{10h, 5});
    CHECK(both.of(1h) == 10h);
    CHECK(both.of(2h) == 10h);
    CHECK(both.of(2h + 1s) == 10h + 5s);
    CHECK(both.of(Duration::max()) == 10h);
    CHECK(both.of(Duration::max() - Duration{1}) == config::duration_max);
    const auto refused = [](const std::string& value) { return complaint("[weir]\nwait-after = " + value + "\n"); };
    CHECK_THAT(refused("{ limits = -1 }"), Contains("wait-after.limits = -1") && Contains("from 0 to 1000"));
    CHECK_THAT(refused("{ limit = 5 }"), Contains("wait-after.limit") && Contains("time, limits"));
    CHECK_THAT(refused("{ time = \"soon\" }"), Contains("wait-after.time") && Contains("soon"));
    CHECK_THAT(refused("true"), Contains("wait-after = true"));
    CHECK_THAT(warned("[weir]\nwait-after = { limits = 5 }\nweights.wait = 0\n"),
               Contains("\"wait-after\" has no effect"));
}

// Kills: the line of the table in place of the key's; of a key with the same name in another table.
TEST_CASE("configuration: a complaint begins with the file and the line") {
    const std::string said = complaint(
        "half-life = 1\n\n[weir]\nqos.\"a.b\".priority = \"x\"\nhalf-life = 0\n[weir.weights]\n\nwait = true\n");
    CHECK_THAT(said, Contains("site.toml:5: [weir] half-life = 0: must be"));
    CHECK_THAT(said, Contains("site.toml:4: [weir] qos.a.b.priority = \"x\": must be"));
    CHECK_THAT(said, Contains("site.toml:8: [weir] weights.wait = true: must be"));
    CHECK(complaint("weir = 3") == "site.toml:1: [weir] must be a table");
    const auto by_argument = config::read_settings_toml("", "site.toml", {"half-life=0"});
    CHECK_THAT(by_argument.error().message, Catch::Matchers::StartsWith("[weir] half-life"));
}

// Kills: a number without unit taken as seconds, in one key's table and not in another's.
TEST_CASE("configuration: every duration needs its unit, and the complaint says which would be right") {
    for (const char* line :
         {"half-life", "wait-max", "wait-after", "wait-after.time", "update-interval", "window.interval",
          "unavail-timeout", "moab.xfactor-shortest", "moab.users.a.queue-time", "lsf.aps.fs.grace"}) {
        CAPTURE(line);
        for (const char* value : {"16", "16.0", "\"16\""}) {
            const std::string said = complaint("[weir]\n" + std::string(line) + " = " + value + "\n");
            CHECK_THAT(said, Contains("site.toml:2: [weir] " + std::string(line) + " = ") &&
                                 Contains("\"16\" has no unit; write \"16s\", \"16m\", \"16h\" or \"16d\""));
        }
        CHECK(complaint("[weir]\n" + std::string(line) + " = \"16d\"\n").empty());
    }
    CHECK(complaint("[weir]\nwait-after = 0\nupdate-interval = \"0\"\n").empty());
}

TEST_CASE("warnings: keys of another policy, each with those that heed it") {
    CHECK_THAT(warned("[weir]\npolicy = 'fcfs'\nhalf-life = '1d'\n"),
               Contains("half-life") && Contains("fcfs") && Contains("moab, multifactor"));
    CHECK_THAT(warned("weir.lsf.hist-hours = 3"), Contains("\"lsf\" has no effect") && Contains("dynamic-user"));
    CHECK_THAT(warned("[weir]\npolicy = 'lsf'\nalgorithm = 'fair-tree'\n"), Contains("algorithm"));
    CHECK(warned("[weir]\npolicy = 'lsf'\n[weir.queues.a]\npriority = 3\n") == "");
    CHECK(warned("[weir]\npolicy = 'fcfs'\nupdate-interval = '1s'\n") == "");
    CHECK(warned("[weir]\nalgorithm = 'dynamic-user'\nlsf.run-job-factor = 2\n") == "");
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

// Kills: a key that is read but has no row for its policies (an unknown name counts as read by all).
TEST_CASE("configuration: each key matters to some policy and is named in what is refused") {
    const std::string names = config::policy_key_names();
    for (const char* key : {"policy", "algorithm", "decay", "half-life", "window", "usage-reset", "weights", "queues",
                            "lsf", "moab", "load-threshold"}) {
        CHECK_THAT(names, Contains(key));
        CHECK_FALSE(config::heeding(key).empty());
    }
    CHECK_THAT(complaint("weir.polcy = 'lsf'"), Contains("polcy") && Contains(names) && Contains("share-tree"));
}

namespace {

const char* every_factor = R"(
[weir]
size-rule = "nodes-and-cores"
raw-factors = ["site", "association"]
[weir.weights]
association = 10
site = 1
resources = 2
[weir.associations.physics]
priority = 4
[weir.associations."physics/@alice"]
priority = 8
[weir.associations."chem"]
priority = 16
[weir.resources]
gpus = 3000
licence = { weight = -5, total = 20 }
)";

}  // namespace

// Kills: a weight that is read but not handed to the engine; the machine's total taken before the site's; the order of
// types in the engine another than resource_amounts()'s.
TEST_CASE("configuration: the factors that only some sites have reach the engine") {
    const auto settings = read_settings(every_factor);
    INFO((settings ? std::string() : settings.error().message));
    REQUIRE(settings);
    const PrioritySettings engine = engine_settings(*settings, {64, 4, 8., 256.});
    CHECK(weight_of(engine, Factor::association) == 10);
    CHECK(weight_of(engine, Factor::site) == 1);
    CHECK(weight_of(engine, Factor::resources) == 2);
    CHECK(engine.is_raw[index_of(Factor::site)]);
    CHECK(engine.is_raw[index_of(Factor::association)]);
    CHECK_FALSE(engine.is_raw[index_of(Factor::resources)]);
    CHECK(engine.size_rule == SizeRule::nodes_and_cores);
    CHECK(engine.machine_nodes == 4);
    CHECK(engine.association_priority_max == 16);
    REQUIRE(engine.resources.size() == 2);
    CHECK(engine.resources[0].name == "gpus");
    CHECK(engine.resources[0].total == std::vector<double>{8.});
    CHECK(engine.resources[1].weight == -5);
    CHECK(engine.resources[1].total == std::vector<double>{20.});
    const auto amounts = resource_amounts(*settings, [](const std::string& name) { return name == "gpus" ? 2. : 5.; });
    CHECK(amounts[0] == 2);
    CHECK(amounts[1] == 5);
    const auto own_total = read_settings("weir.resources.memory = {weight = 1, total = 64}").value();
    CHECK(engine_settings(own_total, {64, 4, 8., 256.}).resources[0].total == std::vector<double>{64.});
}

// Kills: a node without a priority taking the root's 0 instead of its account's; the factor a part of the greatest in
// the tree instead of the greatest given.
TEST_CASE("configuration: an association has the nearest priority at or above it") {
    const auto settings = read_settings(every_factor).value();
    std::vector<NodeSpec> specs(4);
    specs[0].name = "physics";
    specs[1].name = "physics/@alice";
    specs[2].name = "physics/@bob";
    specs[3].name = "bio";
    const ShareTree tree = std::get<ShareTree>(build_share_tree(specs));
    const std::vector<double> table = association_priorities(settings, tree);
    const auto of = [&](const char* path) { return table.at(tree.find(path)->value); };
    CHECK(of("physics") == 4);
    CHECK(of("physics/@alice") == 8);
    CHECK(of("physics/@bob") == 4);
    CHECK(of("bio") == 0);
    PrioritySettings engine = engine_settings(settings, {});
    engine.association_priority = table;
    engine.is_raw[index_of(Factor::association)] = false;
    CHECK(ClassFactors(engine).association.at(tree.find("physics/@alice")->value) == 0.5);
}

TEST_CASE("configuration: mistakes in the factors of some sites are told") {
    CHECK_THAT(complaint("weir.raw-factors = ['size']"), Contains("\"association\"") && Contains("\"site\""));
    CHECK_THAT(complaint("weir.resources.gpus = 'many'"), Contains("resources.gpus = \"many\""));
    CHECK_THAT(complaint("weir.resources.gpus = {wait = 1}"), Contains("weight, total"));
    CHECK_THAT(complaint("weir.resources.gpus = {weight = 1, total = 0}"), Contains("total = 0"));
    CHECK_THAT(complaint("weir.resources = {a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1}"), Contains("at most 8"));
    CHECK_THAT(complaint("weir.associations.physics = 3"), Contains("associations.physics") && Contains("priority"));
    CHECK_THAT(complaint("weir.weights.sites = 3"), Contains("association, site, resources"));
    CHECK_THAT(complaint("weir.size-rule = 'nodes'"), Contains("nodes-and-cores"));
}

// Kills: each branch of add_resources() and add_raw_factors() that says nothing, or says it of settings that work.
TEST_CASE("warnings: factors of some sites that can have no effect") {
    CHECK(warned(every_factor) == "");
    CHECK_THAT(warned("weir.weights.association = 5"), Contains("no association has a priority"));
    CHECK_THAT(warned("weir.associations.a.priority = 5"), Contains("the weight of association is 0"));
    CHECK_THAT(warned("weir.resources.licence = 5"), Contains("give its total"));
    CHECK(warned("weir = {resources = {licence = 5}, raw-factors = ['resources']}") == "");
    CHECK(warned("weir.resources.memory = 5") == "");
    CHECK_THAT(warned("weir.resources.gpus = 0"), Contains("resources.gpus has no effect"));
    CHECK_THAT(warned("weir = {resources = {gpus = 5}, weights = {resources = 0}}"),
               Contains("the weight of resources is 0"));
    CHECK_THAT(warned("weir.weights.resources = 5"), Contains("no type has a weight"));
    CHECK(warned("weir.weights.resources = 0") == "");
    CHECK_THAT(warned("weir = {raw-factors = ['resources'], weights = {resources = 5}}"),
               Contains("\"resources\" has no effect"));
    CHECK_THAT(warned("weir.raw-factors = ['site']"), Contains("\"site\" has no effect"));
    SiteFacts facts;
    facts.resources = std::set<std::string>{"cores"};
    facts.has_site_values = false;
    facts.knows_nodes = false;
    CHECK_THAT(warned("weir.resources.gpus = 5", facts), Contains("not known of the jobs"));
    CHECK(warned("weir.resources.cores = 5", facts) == "");
    CHECK_THAT(warned("weir.weights.site = 5", facts), Contains("nothing sets a job's value"));
    CHECK_THAT(warned("weir.size-rule = 'nodes-and-cores'", facts), Contains("cores alone"));
}

// Kills: a part read into another's place; a queue's factors read into the common ones; a limit that is not checked.
TEST_CASE("configuration: LSF's absolute priority and factors by queue, Moab's usage") {
    const auto s = read_settings(R"(
[weir]
policy = "lsf"
[weir.lsf]
run-job-factor = 4
[weir.lsf.queues.night]
run-job-factor = 1
[weir.lsf.aps]
fs = { weight = 10, limit = 500, grace = "2h" }
proc = -2
)");
    INFO((s ? std::string() : s.error().message));
    REQUIRE(s);
    CHECK(s->lsf.factors.run_job == 4);
    CHECK(lsf_factors_of(s->lsf, "night").run_job == 1);
    REQUIRE(s->lsf.aps);
    CHECK(s->lsf.aps->parts[0] == ApsRule::Part{10, 500, std::chrono::hours(2)});
    CHECK(s->lsf.aps->parts[static_cast<std::size_t>(ApsPart::proc)] == ApsRule::Part{-2, 0, {}});
    CHECK(s->lsf.aps->parts[static_cast<std::size_t>(ApsPart::rsrc)].weight == 1);
    CHECK_THAT(complaint("weir.lsf.aps.ram = 1"), Contains("lsf.aps.ram") && Contains("jprio, qprio"));
    CHECK_THAT(complaint("weir.lsf.aps.fs = {limit = -1}"), Contains("lsf.aps.fs.limit = -1"));
    CHECK_THAT(complaint("weir.lsf.queues.night.hist-hours = 1"), Contains("run-job-factor"));
    CHECK_THAT(complaint("weir.lsf.queues.night.committed-run-time-factor = 2"), Contains("from 0 to 1"));
    const std::string lsf = "[weir]\npolicy = 'lsf'\n";
    CHECK_THAT(warned(lsf + "lsf.aps = {}"), Contains("all weights of [weir.lsf.aps] are 0"));
    CHECK_THAT(warned(lsf + "lsf.aps = {qprio = 1}"), Contains("no priority is given"));
    CHECK_THAT(warned(lsf + "lsf.aps = {mem = 1}"), Contains("lsf.aps.mem has no effect"));
    CHECK_THAT(warned(lsf + "lsf.aps = {proc = 1, rsrc = 0, fs = 1}"), Contains("subfactors have no effect"));
    CHECK(warned(lsf + "lsf.aps = {fs = 1}") == "");
    const auto moab =
        read_settings("[weir]\npolicy = 'moab'\nmoab.usage = {weight = 2, remaining = {weight = 3, cap = 4}}\n");
    REQUIRE(moab);
    const auto& usage = moab->moab.components[static_cast<std::size_t>(MoabComponent::usage)];
    CHECK(usage.weight == 2);
    CHECK(usage.parts[1] == MoabPolicy::Part{3, 4});
    CHECK_THAT(warned("[weir]\npolicy = 'moab'\nmoab.usage.percent = 1\n"), Contains("have used nothing"));
    const std::string more =
        "[weir]\npolicy = 'moab'\nmoab.service = {bypass = {weight = 7, cap = 9}, user-priority = 1}\n"
        "moab.resource = {nodes = 1, memory = 2, processor-equivalents = 3, user-processors = -1, user-jobs = -4}\n";
    CHECK(read_settings(more).value().moab.part(MoabComponent::service, "bypass") == MoabPolicy::Part{7, 9});
    CHECK(read_settings(more).value().moab.part(MoabComponent::resource, "user-jobs").weight == -4);
    CHECK(warned(more) == "");
    SiteFacts log;
    log.knows_nodes = log.knows_urgency = log.knows_memory = false;
    CHECK_THAT(warned(more, log), Contains("moab.resource.nodes counts processors") &&
                                      Contains("moab.resource.memory has no effect") &&
                                      Contains("moab.resource.processor-equivalents counts processors") &&
                                      Contains("moab.service.user-priority has no effect"));
    CHECK_THAT(read_settings("[weir]\nmoab.resource.swap = 1\n").error().message,
               Contains("moab.resource.swap") && Contains("processor-equivalents"));
}
