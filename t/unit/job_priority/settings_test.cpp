// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "libfairshare/base/json/json.hpp"
#include "modules/job-priority/settings.hpp"

using namespace weir;
using namespace weir::priority;
using Catch::Matchers::Contains;

namespace {

Result<Settings> read(const std::string& json, const std::vector<std::string>& arguments = {}) {
    const Json table = Json::parse(json).value();
    return read_settings(table.get(), arguments);
}

std::string complaint(const std::string& json, const std::vector<std::string>& arguments = {}) {
    const Result<Settings> settings = read(json, arguments);
    return settings ? "" : settings.error().message;
}

}  // namespace

TEST_CASE("settings: without [weir] everything has its default") {
    const Result<Settings> settings = read_settings(nullptr, {});
    REQUIRE(settings);
    CHECK(*settings == Settings{});
    CHECK(settings->half_life == std::chrono::hours(24 * 16));
    CHECK(settings->update_interval == std::chrono::seconds(30));
}

TEST_CASE("settings: every key is read") {
    const auto s = read(R"({"share-tree":"t","state":"s","plugin":"p","half-life":"1d","update-interval":"1.5s",
        "wait-max":"2h","algorithm":"classic","size-favors":"small","ageing":"since-submit","raw-factors":["qos"],
        "push":"order","head-depth":12,"push-rate":2.5,
        "only-raises":true,"enforce":false,"parent-factors":false,
        "unavail-timeout":"5s","route":{"queues":["a"]},
        "weights":{"wait":1,"fairshare":2,"qos":3,"queue":4,"size":5,"user":6},
        "qos":{"high":{"priority":9}},"queues":{"debug":{"priority":2.5}},"users":{"alice":5001}})");
    REQUIRE(s);
    CHECK(s->share_tree == "t");
    CHECK(s->is_share_tree_named);
    CHECK(s->update_interval == std::chrono::milliseconds(1500));
    CHECK(s->weights == Weights{1, 2, 3, 4, 5, 6});
    CHECK(s->qos.at("high") == 9);
    CHECK(s->queues.at("debug") == 2.5);
    CHECK(s->users.at("alice") == 5001);
    CHECK_FALSE(s->is_large_favored);
    CHECK(s->ageing == AgeRule::since_submit);
    CHECK(s->raw_factors == std::set<std::string>{"qos"});
    CHECK(s->only_raises);
    CHECK(s->push == config::PushRule::order);
    CHECK(s->head_depth == 12);
    CHECK(s->push_rate == 2.5);
    CHECK_FALSE(s->is_enforced);
    CHECK_FALSE(s->takes_parent_factors);
}

TEST_CASE("settings: a complaint names the key, the value and what is right") {
    CHECK_THAT(complaint(R"({"half-lif":"7d"})"),
               Contains("half-lif") && Contains("unknown key") && Contains("half-life"));
    CHECK_THAT(complaint(R"({"half-life":"7 days"})"), Contains("7 days") && Contains("7d"));
    CHECK_THAT(complaint(R"({"half-life":"0s"})"), Contains("must be from 1s"));
    CHECK_THAT(complaint(R"({"half-life":"infinity"})"), Contains("must be from 1s"));
    CHECK_THAT(complaint(R"({"algorithm":"lottery"})"), Contains("fair-tree") && Contains("classic"));
    CHECK_THAT(complaint(R"({"weights":{"fairshar":1}})"), Contains("weights.fairshar") && Contains("fairshare"));
    CHECK_THAT(complaint(R"({"weights":{"wait":-1}})"), Contains("weights.wait = -1"));
    CHECK_THAT(complaint(R"({"ageing":"always"})"), Contains("always") && Contains("since-submit"));
    CHECK_THAT(complaint(R"({"raw-factors":["size"]})"), Contains("raw-factors") && Contains("queue"));
    CHECK_THAT(complaint(R"({"enforce":"yes"})"), Contains("true or false"));
    CHECK_THAT(complaint(R"({"qos":{"high":3}})"), Contains("qos.high") && Contains("priority"));
    CHECK_THAT(complaint(R"({"push":"tail"})"), Contains("tail") && Contains("head") && Contains("numbers"));
    CHECK_THAT(complaint(R"({"head-depth":-1})"), Contains("head-depth = -1") && Contains("100000"));
    CHECK_THAT(complaint(R"({"head-depth":100001})"), Contains("head-depth = 100001"));
    CHECK_THAT(complaint(R"({"head-depth":2.5})"), Contains("head-depth = 2.5") && Contains("whole number"));
    CHECK_THAT(complaint(R"({"head-depth":"all"})"), Contains("head-depth"));
    CHECK_THAT(complaint(R"({"push-rate":0})"), Contains("push-rate = 0") && Contains("0.1"));
    CHECK_THAT(complaint(R"({"push-rate":2000000})"), Contains("push-rate = 2000000"));
    CHECK_THAT(complaint(R"({"push-rate":"fast"})"), Contains("push-rate"));
    CHECK_THAT(complaint(R"({"users":{"a":1,"b":1}})"), Contains("already the id of a"));
    CHECK_THAT(complaint(R"({"users":{"a":-4}})"), Contains("numeric user id"));
}

TEST_CASE("settings: all complaints are reported at once") {
    CHECK_THAT(complaint(R"({"a":1,"half-life":"x"})"), Contains("\n"));
}

TEST_CASE("settings: module arguments have the last word and are checked as strictly") {
    const auto s =
        read(R"({"half-life":"7d"})", {"half-life=1d", "update-interval=2s", "weights.wait=3", "enforce=false"});
    REQUIRE(s);
    CHECK(s->half_life == std::chrono::hours(24));
    CHECK(s->update_interval == std::chrono::seconds(2));
    CHECK(s->weights.wait == 3);
    CHECK(s->weights.fairshare == 10000);
    CHECK_FALSE(s->is_enforced);
    CHECK_THAT(complaint("{}", {"half-life"}), Contains("must be key=value"));
    CHECK_THAT(complaint("{}", {"nice=1"}), Contains("unknown key"));
}

TEST_CASE("settings: how usage is counted") {
    const auto s = read(R"({"charging":"at-dispatch","billing":"max-tres","billing-weights":"CPU=1,Mem=0.25G",
        "decay":"window","qos":{"scavenger":{"usage-factor":0}},
        "queues":{"gpu":{"priority":5,"usage-factor":2,"billing-weights":"gres/gpu=16"}}})");
    REQUIRE(s);
    const Counting counting = counting_of(*s);
    REQUIRE(counting.rules);
    CHECK(counting.rules->decay == DecayKind::window);
    CHECK(s->billing.charging == Charging::at_dispatch);
    const std::vector<ResourceAmount> amounts{{"cpu", 4}, {"mem", 64 * 1024}, {"gres/gpu", 2}};
    CHECK(billed_rate(s->billing, amounts, "", "") == 16000);  // the memory is dearer than the cores
    CHECK(billed_rate(s->billing, amounts, "", "gpu") == 64000);
    CHECK(billed_rate(s->billing, amounts, "scavenger", "gpu") == 0);
    CHECK(s->queues.at("gpu") == 5);
    CHECK(s->qos.empty());
    CHECK_FALSE(counting_of(*read("{}")).rules);
    CHECK(counting_of(*read(R"({"algorithm":"dynamic-user"})")).rules->history);
    CHECK_THAT(complaint(R"({"charging":"later"})"), Contains("charging") && Contains("at-dispatch"));
    CHECK_THAT(complaint(R"({"billing":"dear"})"), Contains("billing") && Contains("max-tres"));
    CHECK_THAT(complaint(R"({"billing-weights":"cpu"})"), Contains("billing-weights") && Contains("cpu"));
    CHECK_THAT(complaint(R"({"billing-weights":{"cpu":1}})"), Contains("must be a text"));
    CHECK_THAT(complaint(R"({"qos":{"a":{"usage-factor":-1}}})"), Contains("qos.a.usage-factor"));
    CHECK_THAT(complaint(R"({"qos":{"a":{"billing-weights":"cpu=1"}}})"), Contains("unknown key"));
}

TEST_CASE("settings: what only the simulator follows is refused, not ignored") {
    CHECK(read(R"({"policy":"moab"})")->decay == DecayKind::window);
    CHECK(counting_of(*read(R"({"policy":"lsf"})")).rules->history);
    CHECK(read(R"({"size-rule":"over-time"})"));
    CHECK_THAT(complaint(R"({"update-interval":0})"), Contains("at least 10ms"));
    CHECK(read(R"({"policy":"multifactor","algorithm":"served-share","rounding":"down"})"));
    CHECK(read(R"({"algorithm":"dynamic-user","decay":"none","usage-reset":"daily"})"));
}
