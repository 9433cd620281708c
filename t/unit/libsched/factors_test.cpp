// SPDX-License-Identifier: LGPL-3.0-only
// The factors beyond Flux's six, Slurm's words for the settings, and what INCR_ONLY and given priorities do to a pass.
#include "libsched/priority/factors.hpp"

#include <catch2/catch.hpp>

#include "libsched/priority/explain.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libsched/workload.hpp"

using namespace weir;
using test::at;

namespace {

JobInputs job_numbered(std::uint64_t id) {
    JobInputs in;
    in.id = JobId{id};
    return in;
}

/// Only the term under test counts.
PrioritySettings only(Factor factor, double weight) {
    PrioritySettings s;
    s.weights = {};
    s.weights[index_of(factor)] = weight;
    return s;
}

std::uint32_t priority_of(const PrioritySettings& settings, const JobInputs& in) {
    PriorityEngine engine(settings);
    return engine.priority(engine.insert(in), at(0), {});
}

}  // namespace

TEST_CASE("factors: an association's priority counts as its part of the greatest, or as it is") {
    PrioritySettings s = only(Factor::association, 1000.);
    s.association_priority = {0., 30., 60.};
    JobInputs in = job_numbered(1);
    in.association = 1;
    CHECK(priority_of(s, in) == 500);
    s.is_raw[index_of(Factor::association)] = true;
    CHECK(priority_of(s, in) == 30000);
    in.association = 7;
    CHECK(priority_of(s, in) == 1);
}

TEST_CASE("factors: a site's value is cut to [0,1], or added as it is, and may lower") {
    PrioritySettings s = only(Factor::site, 100.);
    JobInputs in = job_numbered(1);
    in.extras.site = 7.;
    CHECK(priority_of(s, in) == 100);
    s.is_raw[index_of(Factor::site)] = true;
    CHECK(priority_of(s, in) == 700);
    in.extras.site = -7.;
    CHECK(priority_of(s, in) == 1);
}

TEST_CASE("factors: each resource type has its weight and its queue's total") {
    PrioritySettings s = only(Factor::resources, 1.);
    s.queue_priority = {0., 0.};
    s.resources = {{"gpu", 1000., {8., 4.}}, {"mem", -100., {1000.}}, {"absent", 5000., {}}};
    JobInputs in = job_numbered(1);
    in.extras.resources = {2., 500., 3.};
    CHECK(priority_of(s, in) == 200);  // 1000 x 2/8 - 100 x 500/1000
    in.queue = 1;
    CHECK(priority_of(s, in) == 450);
    s.is_raw[index_of(Factor::resources)] = true;
    s.resources[1].weight = 0.5;
    CHECK(priority_of(s, in) == 2000 + 250 + 15000);

    PriorityEngine engine(s);
    const Breakdown parts = breakdown(engine, engine.insert(in), at(0), {});
    REQUIRE(parts.resources.size() == 3);
    CHECK(std::string_view{parts.resources[1].name} == "mem");
    CHECK(parts.resources[1].contribution == 250.);
    CHECK(parts.terms[index_of(Factor::resources)].contribution == 17250.);
}

TEST_CASE("factors: size by nodes and cores, and relative to the time limit, is Slurm's") {
    PrioritySettings s = only(Factor::size, 3000.);
    s.size_rule = SizeRule::nodes_and_cores;
    s.machine_nodes = 4;
    s.machine_cores = 64;
    JobInputs in = job_numbered(1);
    in.extras.limit = std::chrono::minutes(2);
    CHECK(size_factor(s, in) == (1. / 4 + 1. / 64) / 2);
    s.size_favors_large = false;
    CHECK(size_factor(s, in) == (3. / 4 + 63. / 64) / 2);
    in.cores = 0;
    CHECK(size_factor(s, in) == 3. / 4);
    in.extras.nodes = 5;
    CHECK(size_factor(s, in) == 0.);
    in.extras.nodes = 2;
    s.size_rule = SizeRule::over_time;
    CHECK(size_factor(s, in) == 1. - 2. * 16. / 2. / 64.);
    s.size_favors_large = true;
    in.cores = 48;
    CHECK(size_factor(s, in) == 48. / 2. / 64.);
    in.extras.limit = std::chrono::seconds(1);
    CHECK(size_factor(s, in) == 1.);
}

TEST_CASE("factors: a raw user term is nice, subtracted") {
    PrioritySettings s = only(Factor::user, 1.);
    s.is_raw[index_of(Factor::user)] = true;
    JobInputs in = job_numbered(1);
    in.extras.nice = -2147483645;
    CHECK(priority_of(s, in) == 2147483645);
    in.extras.nice = 5;
    in.urgency = 30;
    CHECK(priority_of(s, in) == 9);
}

TEST_CASE("priority: a given priority bypasses the sum until it is taken back") {
    PrioritySettings s;
    PriorityEngine engine(s);
    JobInputs in = job_numbered(1);
    in.association = 3;
    in.eligible = at(5);
    in.extras.given = 12345;
    const auto slot = engine.insert(in);
    const std::vector<double> factors(4, 1.);
    CHECK(engine.priority(slot, at(1000000), factors) == 12345);
    CHECK(engine.inputs(slot) == in);
    const Breakdown parts = breakdown(engine, slot, at(0), factors);
    CHECK(parts.bypass == Bypass::given);
    CHECK(parts.sum == 12345.);
    CHECK(parts.terms[1].contribution == 0.);
    in.extras.given.reset();
    engine.update(slot, in);
    CHECK(engine.inputs(slot) == in);
    CHECK(engine.priority(slot, at(5), factors) == 11017);
    CHECK(standing({engine, at(5), factors}, slot, 1).rank == 1);
}

TEST_CASE("priority: extras come and go without touching the others' inputs") {
    PriorityEngine engine(PrioritySettings{});
    JobInputs plain = job_numbered(1);
    plain.eligible = at(77);
    plain.association = 2;
    const auto first = engine.insert(plain);
    JobInputs rich = job_numbered(2);
    rich.extras.nodes = 9;
    const auto second = engine.insert(rich);
    CHECK(engine.inputs(first) == plain);
    CHECK(engine.inputs(second) == rich);
    engine.remove(second);
    plain.id = JobId{3};
    CHECK(engine.inputs(engine.insert(plain)) == plain);
}

TEST_CASE("slurm: flags count wherever they stand, in any case of letters") {
    using slurm::priority_flags;
    CHECK(priority_flags("") == slurm::PriorityFlags{});
    const auto all = priority_flags("accrue_always,NO_NORMAL_ALL");
    CHECK((all.accrue_always && all.no_normal_assoc && all.no_normal_part && all.no_normal_qos && all.no_normal_tres));
    CHECK_FALSE(priority_flags("NO_NORMAL_PART").no_normal_qos);
    CHECK_FALSE(priority_flags("DEPTH_OBLIVIOUS").fair_tree);
    CHECK_FALSE(priority_flags("NO_FAIR_TREE").fair_tree);
    CHECK((priority_flags("MAX_TRES").max_tres && !priority_flags("MAX_TRES_GRES").max_tres));
}

TEST_CASE("slurm: sums are cut off, but for what only the order of additions takes away") {
    slurm::PriorityWeights weights;
    weights.fairshare = 10.;
    PriorityEngine engine(slurm::priority_settings({}, false, weights));
    const auto slot = engine.insert(job_numbered(1));
    CHECK(engine.priority(slot, at(0), std::vector<double>{.7999}) == 7);
    CHECK(engine.priority(slot, at(0), std::vector<double>{.8 - 1e-14}) == 8);
    CHECK(engine.priority(slot, at(0), std::vector<double>{1e12}) == 0xFFFFFFFFU);
}

TEST_CASE("slurm: without weights every job has priority 1") {
    const auto settings = slurm::priority_settings({}, false, {});
    JobInputs in = job_numbered(1);
    in.cores = 64;
    CHECK(priority_of(settings, in) == 1);
}

TEST_CASE("priority: settings of the new terms are checked") {
    PrioritySettings s;
    s.is_raw[index_of(Factor::size)] = true;
    s.machine_nodes = 0;
    s.ceiling = 0;
    s.resources.resize(resource_kinds_max + 1);
    const auto result = validate(s);
    REQUIRE_FALSE(result.has_value());
    for (const char* part : {"size is always normalised", "one node", "ceiling", "at most 8 resource types"}) {
        CHECK(result.error().message.find(part) != std::string::npos);
    }
    PrioritySettings idle;
    idle.weights[index_of(Factor::association)] = 1.;
    idle.resources = {{"gpu", 5., {0.}}};
    const auto found = warnings(idle);
    REQUIRE(found.size() == 2);
    CHECK(found[0].find("no association has a priority") != std::string::npos);
    CHECK(found[1].find("nothing has any gpu") != std::string::npos);
}

// Kills: a floor that is compared before the first pass; a floor that survives an update; one that pass_one ignores.
TEST_CASE("priority: with only_raises a pass never lowers a job, and its own update does") {
    draw::property("floor", [] {
        PrioritySettings s;
        s.only_raises = true;
        PrioritySettings free_settings = s;
        free_settings.only_raises = false;
        PriorityEngine engine(s);
        PriorityEngine unbound(free_settings);
        JobInputs in = job_numbered(1);
        const auto slot = engine.insert(in);
        const auto twin = unbound.insert(in);
        std::uint32_t least = 0;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int what = draw::in_range(0, 5);
            const int value = draw::in_range(0, 101);
            const std::vector<double> factors{value / 100.};
            if (what == 0) {
                in.urgency = static_cast<std::uint8_t>(value % 32);
                engine.update(slot, in);
                unbound.update(twin, in);
                least = 0;
                continue;
            }
            if (what == 4) {
                in.association = static_cast<std::uint32_t>(value % 2);  // another tree: index 1 has no factor
                engine.renew(slot, in);
                unbound.renew(twin, in);
                continue;
            }
            std::vector<PriorityEngine::Change> changes;
            const std::uint32_t expected = std::max(least, unbound.priority(twin, at(0), factors));
            RC_ASSERT(engine.priority(slot, at(0), factors) == expected);
            if (what == 1) {
                engine.pass_one(slot, at(0), factors, changes);
            } else {
                engine.pass(at(0), factors, changes);
            }
            RC_ASSERT(engine.pushed(slot) == expected);
            least = expected;
        }
    });
}

// Kills: a class table that is not rebuilt; extras that configure() loses; a static part without the last term.
TEST_CASE("priority: new settings give what a new engine with them gives") {
    draw::property("configure = construct", [] {
        const auto any = [] { return draw::in_range(0, 5); };
        const auto settings = [&] {
            PrioritySettings s = slurm::priority_settings(
                slurm::priority_flags(any() == 0 ? "NO_NORMAL_ALL" : ""), any() > 2,
                {10. * any(), 10. * any(), 10. * any(), 10. * any(), 10. * any(), 10. * any()});
            s.association_priority = {1. * any(), 1. * any()};
            s.queue_priority = {1. * any(), 1. * any()};
            s.resources = {{"gpu", 10. * any(), {4.}}};
            s.machine_cores = 8;
            return s;
        };
        PriorityEngine changed(settings());
        JobInputs in = job_numbered(1);
        in.association = static_cast<std::uint32_t>(any());
        in.queue = static_cast<std::uint16_t>(any());
        in.extras.resources[0] = any();
        in.extras.site = any();
        in.extras.nice = any() - 2;
        const auto slot = changed.insert(in);
        const PrioritySettings next = settings();
        changed.configure(next);
        PriorityEngine made(next);
        const std::vector<double> factors{.5, 1.};
        const std::uint32_t got = changed.priority(slot, at(100), factors);
        RC_ASSERT(got == made.priority(made.insert(in), at(100), factors));
        const Breakdown parts = breakdown(changed, slot, at(100), factors);
        RC_ASSERT(got == static_cast<std::uint32_t>(std::max(1., parts.sum + 0x1p-30)));
    });
}
