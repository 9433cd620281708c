// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/usage/slurm_usage.hpp"

#include <cmath>
#include <limits>

#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

TEST_CASE("slurm usage: a half-life leaves a little more than half") {
    CHECK(SlurmDecay{std::chrono::hours{1}}.after(std::chrono::hours{1}) == Approx(0.5000402369932148).epsilon(1e-15));
    CHECK(SlurmDecay{Duration{0}}.after(week) == 1.0);
    CHECK(SlurmDecay{std::chrono::hours{1}}.after(365 * week) == std::numeric_limits<double>::min());
}

TEST_CASE("slurm usage: a slice is discounted as if used at its beginning") {
    const SlurmDecay decay{std::chrono::minutes{5}};
    CHECK(decay.charge(std::chrono::seconds{53}, 9.953125) == Approx(466.662763).epsilon(1e-9));
}

TEST_CASE("slurm usage: accounts hold what was added below, cut once for the algorithms") {
    const ShareTree tree = tree_of({{"a", 1}, {"a/@u", 1}, {"a/@v", 1}});
    SlurmUsage usage{tree, SlurmDecay{week}};
    usage.charge(at(tree, "a/@u"), std::chrono::seconds{10}, 2);
    usage.add(at(tree, "a/@v"), 0.75L);
    usage.decay(std::chrono::seconds{60});
    CHECK(usage.usage(root_node) == usage.usage(at(tree, "a/@u")) + usage.usage(at(tree, "a/@v")));
    const auto whole = usage.snapshot(1000);
    CHECK(whole[at(tree, "a/@v").value] == 749);
    CHECK(whole[at(tree, "a").value] == whole[at(tree, "a/@u").value] + whole[at(tree, "a/@v").value]);
    CHECK(whole[0] == whole[at(tree, "a").value]);
}
