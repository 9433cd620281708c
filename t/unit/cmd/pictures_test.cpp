// SPDX-License-Identifier: LGPL-3.0-only
// The pictures of an instance: labels that can be read, numbers that add up, a page that stays small.
#include <catch2/catch.hpp>
#include <numeric>

#include "cmd/pictures/forgetting.hpp"
#include "cmd/pictures/instance_report.hpp"
#include "cmd/pictures/policies.hpp"
#include "cmd/pictures/queue.hpp"
#include "cmd/report/svg.hpp"
#include "t/unit/cmd/labels.hpp"
#include "t/unit/draws.hpp"

using namespace weir::cmd;
using weir::test::unreadable_labels;

namespace {

const std::vector<std::string> none;

/// A tree of `accounts` with `users` each; the first is far above its share.
InstanceFacts facts_of(int accounts, int users, const std::string& name) {
    InstanceFacts facts;
    facts.title = "Fair share";
    facts.decay.half_life_s = 7 * 86400;
    facts.known_since_s = -30 * 86400.;
    for (int a = 0; a < accounts; ++a) {
        const std::string path = name + std::to_string(a);
        const double entitled = 1. / accounts, used = a == 0 ? .5 : .5 / std::max(1, accounts - 1);
        facts.rows.push_back({path, 10, entitled, used, used * 1e9, {}});
        facts.charges.push_back({path + "/@u0", used * 900, -86400. * (a % 20 + 2), -86400. * (a % 20)});
        for (int u = 0; u < users; ++u) {
            facts.rows.push_back(
                {path + "/@u" + std::to_string(u), 1, entitled / users, used / users, used * 1e9 / users, {}});
        }
    }
    facts.all_core_s = 1e9;
    for (int i = 0; i < 15; ++i) {
        PendingRow row{i + 1,
                       "ƒ7J4Ab" + std::to_string(i),
                       name + "user",
                       name + "account",
                       name + "queue",
                       1 << i,
                       36000. * i,
                       98765432 - 5000000 * i,
                       i % 4 == 0,
                       std::nullopt,
                       "behind 12345 jobs; no estimate"};
        if (i % 3 != 0) {
            row.start_s = 4000. * i;
            row.may_move = i % 2 == 0;
        }
        facts.queue.push_back(row);
    }
    facts.pending = 12345;
    facts.top = {"top", 81920, 70000, 123456, 4321, "", {}};
    for (int i = 0; i < 12; ++i) {
        InstanceBox box{
            name + "batch", 8192 >> i, 4000 >> i, 12345, 1234, i == 3 ? "lost since 2026-11-21 09:31:05" : "", {}};
        box.children.assign(static_cast<std::size_t>(i), box);
        facts.top.children.push_back(box);
    }
    facts.two_jobs = std::pair(JobTerms{"ƒ7J4Ab",
                                        name,
                                        "place 1 of 12345",
                                        65480,
                                        {{"fairshare", 62100.25}, {"wait", 1480}, {"size", 900.5}, {"queue", 999.25}}},
                               JobTerms{"ƒ7J4Ac",
                                        name,
                                        "place 12 of 12345",
                                        26645,
                                        {{"fairshare", 21400.}, {"wait", 6020.2}, {"size", 224.8}, {"nice", -1000}}});
    return facts;
}

}  // namespace

TEST_CASE("pictures: a start that holds for one partition of several has a sign, which is explained below") {
    PendingRow row;
    row.start_s = 4000;
    const auto has = [&row](const char* words) { return queue_picture({row}, 1).find(words) != std::string::npos; };
    CHECK_FALSE(has(" *<"));
    CHECK_FALSE(has("* in its partition"));
    row.may_move = true;
    CHECK(has(" *<"));
    CHECK(has("* in its partition; it may start earlier in another one"));
}

TEST_CASE("pictures: no label is crossed by a line, lies on another or is outside") {
    for (const auto& [accounts, users, name] : {std::tuple{1, 0, "p"},
                                                {3, 2, "physics"},
                                                {9, 3, "an_account_with_a_very_long_name_"},
                                                {2, 40, "chemistry"}}) {
        for (const DrawnPicture& picture : pictures_of(facts_of(accounts, users, name), 40)) {
            INFO(name << " " << picture.name);
            CHECK(unreadable_labels(picture.svg) == none);
        }
    }
}

TEST_CASE("pictures: the page of a tree of 20,000 rows is below 60 kB, and says what is left out") {
    const std::string page = instance_page(facts_of(500, 40, "department_of_something_"));
    CHECK(page.size() <= page_bytes_max);
    CHECK(page.find(" more are in weir share show") != std::string::npos);
    CHECK(page.find("<script") == std::string::npos);
}

TEST_CASE("pictures: an instance without accounts, jobs and history is drawn") {
    for (const DrawnPicture& picture : pictures_of(InstanceFacts{}, 40)) {
        CHECK(unreadable_labels(picture.svg) == none);
    }
    CHECK(instance_page(InstanceFacts{}).find("The share tree is empty.") != std::string::npos);
}

TEST_CASE("share tree: the rows that are shown have the accounts above them") {
    const auto facts = facts_of(3, 5, "a");
    const auto places = most_telling(facts.rows, 7);
    REQUIRE(places.size() == 7);
    CHECK(std::is_sorted(places.begin(), places.end()));
    CHECK(std::count_if(places.begin(), places.end(),
                        [&](std::size_t i) { return facts.rows[i].path.find('/') == std::string::npos; }) == 3);
    CHECK(most_telling(facts.rows, 1000).size() == facts.rows.size());
    CHECK(standing_words(.502, .3) == "used 1.67× its share: 50.2 % of 30.0 %");
    CHECK(standing_words(.1, 0) == "has no share and used 10.0 %");
}

TEST_CASE("two jobs: the gap adds up to the difference of the priorities") {
    draw::property("sum of gap_terms", [] {
        const auto points = [] { return draw::in_range(-40'000'000, 90'000'000) / 1000.; };
        JobTerms a{"a", "x", "", 0, {}}, b{"b", "y", "", 0, {}};
        double sum_a = 0, sum_b = 0;
        for (const char* name : {"fairshare", "wait", "size", "queue", "qos"}) {
            a.terms.emplace_back(name, points());
            b.terms.emplace_back(name, points());
            sum_a += a.terms.back().second;
            sum_b += b.terms.back().second;
        }
        // As the engine rounds and bounds them.
        a.priority = std::llround(std::clamp(sum_a, 1., 4294967294.));
        b.priority = std::llround(std::clamp(sum_b, 1., 4294967294.));
        std::int64_t sum = 0;
        for (const auto& [name, value] : gap_terms(a, b)) {
            sum += value;
        }
        RC_ASSERT(sum == a.priority - b.priority);
    });
    const auto terms =
        gap_terms({"a", "", "", 100, {{"wait", 60.5}, {"size", 39.5}}}, {"b", "", "", 40, {{"wait", 40}}});
    CHECK(terms == std::vector<std::pair<std::string, std::int64_t>>{{"size", 39}, {"wait", 21}});
}

// Kills: decay the wrong way, a job counted twice, the forecast of a group above its share that goes on running.
TEST_CASE("usage lines: the past is what the ledger was, the forecast what it will be") {
    draw::property("usage before, from jobs", [] {
        const double half_life = draw::in_range(10, 1000);
        const auto jobs = draw::in_range(1, 12);
        UsageInputs inputs;
        inputs.half_life_s = half_life;
        inputs.known_since_s = -4 * half_life;
        std::vector<UsageCharge> charges;
        for (int i = 0; i < jobs; ++i) {
            const double begin = -4 * half_life * draw::in_range(1, 1000) / 1000.;
            const double end = begin * draw::in_range(0, 1000) / 1000.;
            charges.push_back({i % 2 == 0 ? "a/@x" : "b/@y", static_cast<double>(draw::in_range(1, 50)), begin, end});
        }
        charges.push_back({"a/@x", 1, -6 * half_life, -5 * half_life});  // before what is known
        const auto usage_at = [&](const std::string& path, double at) {
            double sum = 0;
            for (const UsageCharge& c : charges) {
                const double end = std::min(c.end_s, at), rate = std::log(2.) / half_life;
                sum += c.path.rfind(path, 0) == 0 && end > c.begin_s
                           ? c.cores / rate * (std::exp((end - at) * rate) - std::exp((c.begin_s - at) * rate))
                           : 0;
            }
            return sum;
        };
        inputs.charges.assign(charges.begin(), charges.end() - 1);
        inputs.nodes = {{"a", .5, usage_at("a", 0)}, {"b", .5, usage_at("b", 0)}};
        inputs.all_core_s = usage_at("", 0);
        const UsageLines lines(inputs);
        RC_ASSERT(lines.since_s() == -4 * half_life);
        for (const auto& [at, used] : lines.past(0, 16)) {
            RC_ASSERT(std::abs(used - usage_at("a", at) / usage_at("", at)) < 1e-6);
        }
    });
    UsageInputs two;
    two.half_life_s = 100;
    two.known_since_s = -1000;
    two.nodes = {{"a", .5, 300}, {"b", .5, 100}};
    two.all_core_s = 400;
    two.charges = {{"b/@y", 1, -100, 0}};
    const auto ahead = UsageLines(two).ahead({0, 1}, 100);
    CHECK(ahead[0].front().second == Approx(.75));
    const auto meets = meeting(ahead[0], .5);
    REQUIRE(meets);
    // a: 300 2^-t/100; b: 100 2^-t/100 + pace (1 - 2^-t/100) 100/ln 2, with pace 1 core.
    const double kept = std::exp2(-*meets / 100);
    CHECK(300 * kept / (400 * kept + 100 / std::log(2.) * (1 - kept)) == Approx(.5).epsilon(1e-3));
    CHECK_FALSE(meeting({{0, .5}, {1, .4}}, .3));
}

TEST_CASE("usage lines: the past ends where the jobs do not explain the usage") {
    UsageInputs inputs;
    inputs.half_life_s = 100;
    inputs.known_since_s = -400;
    inputs.nodes = {{"a", 1, 10}};
    inputs.all_core_s = 10;
    inputs.charges = {{"a/@x", 1, -50, 0}};  // more than the ledger has
    const UsageLines lines(inputs);
    CHECK(lines.since_s() > -15);
    CHECK(UsageLines({{{"a", 1, 10}}, 10, {}, 100, 0}).past(0, 4).empty());
}

TEST_CASE("pictures: one alone has its name space and its style sheet") {
    const std::string text = standalone(instances_picture({"top", 4, 2, 1, 1, "", {}}));
    CHECK(text.find("<svg id=\"instances\"") == 0);
    CHECK(text.find("xmlns=\"http://www.w3.org/2000/svg\">") != std::string::npos);
    CHECK(text.find("@media(prefers-color-scheme:dark)") != std::string::npos);
}

TEST_CASE("pictures: policies on one log, lines with gaps and labels that can be read") {
    std::vector<PolicyLines> policies;
    for (int i = 0; i < 8; ++i) {
        PolicyLines& lines = policies.emplace_back();
        lines.name = "a policy with a long name <" + std::to_string(i) + ">";
        for (int at = 0; at < 200; ++at) {
            lines.distance.emplace_back(at * 3600.,
                                        at % 50 == 7 ? std::nullopt : std::optional(.01 * (at % 40) * i / 8));
            lines.waits.emplace_back(at * at * 10., at / 199.);
        }
        lines.wait_median_s = 99 * 99 * 10.;
        lines.wait_p95_s = 189 * 189 * 10.;
        lines.wait_max_s = 199 * 199 * 10.;
    }
    CHECK(stretches(policies[0].distance).size() == 5);
    for (const double span_s : {0., 5000., 200 * 3600., 1e8}) {
        CHECK(unreadable_labels(distance_picture(policies, span_s)) == none);
    }
    CHECK(unreadable_labels(waits_picture(policies)) == none);
    CHECK(waits_picture(policies).find("half of the jobs waited at most 1d 3h") != std::string::npos);
    CHECK(mean_text({{0, std::nullopt}}, " %") == "never asks with another");
}

TEST_CASE("pictures: the boxes of a page that is followed are links that can be heard; those of a file are not") {
    InstanceBox open{"batch", 4, 2, 1, 1, "", {}};
    open.way = "12";
    InstanceBox lost = open;
    lost.way = "";
    lost.problem = "lost";
    const InstanceBox top{"top", 8, 4, 2, 2, "", {open, lost}};
    const std::string page = instances_picture(top, "?in=7/");
    CHECK(page.find("<a href=\"?in=7/12\" aria-label=\"Into batch: 50 % busy, 1 waiting\">") != std::string::npos);
    CHECK(page.find("<a ", page.find("<a ") + 1) == std::string::npos);
    CHECK(page.find("role=\"group\"") != std::string::npos);
    const std::string file = instances_picture(top);
    CHECK(file.find("<a ") == std::string::npos);
    CHECK(file.find("role=\"img\"") != std::string::npos);
}

TEST_CASE("svg: exact numbers read back as the same") {
    draw::property("exact", [] {
        const auto value = draw::arbitrary<double>();
        RC_ASSERT(std::isnan(value) || std::strtod(exact(value).c_str(), nullptr) == value);
    });
}
