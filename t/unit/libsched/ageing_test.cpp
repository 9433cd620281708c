// SPDX-License-Identifier: LGPL-3.0-only
// Since when a job ages under each rule.
#include "libsched/priority/ageing.hpp"

#include <catch2/catch.hpp>

#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

/// Submitted at 0, could start from 10, held from 30 to 50, asked at 60.
double wait_at_60(AgeRule rule) {
    Ageing ageing(rule, at(0));
    ageing.begin(at(10));
    ageing.pause(at(30));
    ageing.begin(at(50));
    CHECK(at(60) - ageing.eligible() == ageing.wait(at(60)));
    return to_seconds(ageing.wait(at(60)));
}

}  // namespace

TEST_CASE("ageing: what a hold and a dependency cost is the rule's choice") {
    CHECK(wait_at_60(AgeRule::while_eligible) == 30);
    CHECK(wait_at_60(AgeRule::since_eligible) == 50);
    CHECK(wait_at_60(AgeRule::since_last_eligible) == 10);
    CHECK(wait_at_60(AgeRule::since_submit) == 60);
}

TEST_CASE("ageing: a job that never could start has no age, and its instant is never") {
    Ageing ageing(AgeRule::since_eligible, at(0));
    CHECK(ageing.eligible() == never);
    CHECK(ageing.wait(at(1000)) == Duration::zero());
}

TEST_CASE("ageing: a begin time to come gives no age before it") {
    Ageing ageing(AgeRule::since_eligible, at(0));
    ageing.begin(at(100));
    CHECK(ageing.wait(at(40)) == Duration::zero());
    CHECK(to_seconds(ageing.wait(at(140))) == 40);
}

TEST_CASE("ageing: a restart forgets all wait, under every rule") {
    for (const AgeRule rule : {AgeRule::while_eligible, AgeRule::since_submit}) {
        Ageing ageing(rule, at(0));
        ageing.begin(at(0));
        ageing.restart(at(100));
        CHECK(to_seconds(ageing.wait(at(130))) == 30);
    }
}

// Kills: a pause that adds the whole age again; a begin that moves a span already begun; a rule taken for another.
TEST_CASE("ageing: the rules differ by holds alone, and in one order") {
    draw::property("last <= while <= since eligible <= since submit", [] {
        std::array<Ageing, 4> ages{Ageing(AgeRule::since_last_eligible, at(0)), Ageing(AgeRule::while_eligible, at(0)),
                                   Ageing(AgeRule::since_eligible, at(0)), Ageing(AgeRule::since_submit, at(0))};
        std::int64_t now = 0;
        std::int64_t summed = 0;
        std::int64_t first = -1;
        bool can_start = false;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int gap = draw::in_range(0, 20);
            const bool is_begin = draw::arbitrary<bool>();
            now += gap;
            summed += can_start ? gap : 0;
            for (Ageing& age : ages) {
                if (is_begin) {
                    age.begin(at(now));
                } else {
                    age.pause(at(now));
                }
            }
            can_start = is_begin;
            first = is_begin && first < 0 ? now : first;
        }
        const auto wait = [&](std::size_t i) { return to_seconds(ages.at(i).wait(at(now))); };
        RC_ASSERT(wait(0) <= wait(1));
        RC_ASSERT(wait(1) == static_cast<double>(summed));
        RC_ASSERT(wait(2) == static_cast<double>(first < 0 ? 0 : now - first));
        RC_ASSERT(wait(3) == static_cast<double>(now));
    });
}
