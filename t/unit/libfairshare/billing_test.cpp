// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/billing.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace weir;

namespace {

const std::vector<ResourceAmount> job{{"cpu", 4}, {"mem", 4096}, {"node", 1}, {"gres/gpu", 2}, {"license/x", 3}};

double cost(std::string_view weights, BillingRule rule) {
    return BillingWeights::parse(weights)->cost(job, rule);
}

}  // namespace

TEST_CASE("billing: without weights a job costs its cores") {
    CHECK(BillingWeights{}.cost(job, BillingRule::sum) == 4);
    CHECK(BillingWeights{}.cost(job, BillingRule::max_tres) == 4);
}

TEST_CASE("billing: what competes under each rule") {
    constexpr std::string_view weights = "CPU=1.0,Mem=0.25G,GRES/gpu=2.5,License/x=10";
    CHECK(cost(weights, BillingRule::sum) == 4 + 1 + 5 + 30);
    CHECK(cost(weights, BillingRule::max_tres) == 5 + 30);
    CHECK(cost(weights, BillingRule::max_tres_gres) == 4 + 5 + 30);
}

TEST_CASE("billing: a letter divides, and memory counts in MiB") {
    CHECK(cost("mem=1", BillingRule::sum) == 4096);
    CHECK(cost("mem=1M", BillingRule::sum) == 4096);
    CHECK(cost("mem=1G", BillingRule::sum) == 4);
    CHECK(cost("mem=1T", BillingRule::sum) == 4.0 / 1024);
    CHECK(cost("gres/gpu=2K", BillingRule::sum) == 4.0 / 1024);
}

TEST_CASE("billing: what is wrong about a weight is said") {
    CHECK(BillingWeights::parse("cpu").error().message ==
          "billing weight \"cpu\": give NAME=WEIGHT, as in CPU=1.0,Mem=0.25G,GRES/gpu=2");
    CHECK(BillingWeights::parse("cpu=-1").error().message ==
          "billing weight \"cpu=-1\": the weight must be a number of 0 or more");
    CHECK(BillingWeights::parse("mem=1e308K").error().message ==
          "billing weight \"mem=1e308K\": the weight is too large");
    CHECK(BillingWeights::parse("cpu=nan").error().message.find("number") != std::string::npos);
    CHECK(BillingWeights::parse("cpu=1X").error().message ==
          "billing weight \"cpu=1X\": after the number one of K, M, G, T, P is allowed");
    CHECK(BillingWeights::parse("cpu=1,CPU=2").error().message ==
          "billing weight \"CPU=2\": the resource is there twice");
    CHECK(billing_rule_named("max").error().message ==
          "unknown billing rule \"max\"; known are sum, max-tres, max-tres-gres");
    CHECK(*billing_rule_named("max-tres-gres") == BillingRule::max_tres_gres);
}

TEST_CASE("billing: factors of QoS and queue multiply, unknown ones are 1") {
    const UsageFactors factors{{{"scavenger", 0.0}, {"dear", 2.0}}, {{"preempt", 0.5}}};
    CHECK(factors.of("dear", "preempt") == 1.0);
    CHECK(factors.of("scavenger", "preempt") == 0.0);
    CHECK(factors.of("normal", "batch") == 1.0);
}
