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

TEST_CASE("slurm usage: a removed user's usage stays with his account, a moved account takes its own along") {
    const ShareTree before =
        tree_of({{"a", 1}, {"a/@u", 1}, {"a/@v", 1}, {"b", 1}, {"b/c", 1}, {"b/c/@w", 1}, {"b/@x", 1}});
    SlurmUsage usage{before, SlurmDecay{Duration{0}}};
    usage.add(at(before, "a/@u"), 3000);
    usage.add(at(before, "a/@v"), 1000);
    usage.add(at(before, "b/c/@w"), 700);
    usage.add(at(before, "b/@x"), 9000);
    const ShareTree after =
        tree_of({{"a", 1}, {"a/@u", 1}, {"a/@new", 1}, {"a/c", 1}, {"a/c/@w", 1}, {"b", 1}, {"b/@x", 1}});
    usage.rebind(after);
    CHECK(usage.usage(at(after, "a")) == 4700);
    CHECK(usage.usage(at(after, "a/c")) == 700);
    CHECK(usage.usage(at(after, "a/@new")) == 0);
    CHECK(usage.usage(at(after, "b")) == 9000);
    CHECK(usage.usage(root_node) == 13700);
    const auto whole = usage.snapshot(1);
    CHECK(whole[at(after, "a").value] == 4700);
    CHECK(whole[0] == 13700);
}

TEST_CASE("slurm usage: what a removed node left decays with the rest and moves on when its account goes too") {
    const ShareTree before = tree_of({{"a", 1}, {"a/b", 1}, {"a/b/@u", 1}, {"a/b/@v", 1}, {"a/@w", 1}});
    SlurmUsage usage{before, SlurmDecay{week}};
    usage.add(at(before, "a/b/@u"), 800);
    const ShareTree without_user = tree_of({{"a", 1}, {"a/b", 1}, {"a/b/@v", 1}, {"a/@w", 1}});
    usage.rebind(without_user);
    const ShareTree without_account = tree_of({{"a", 1}, {"a/@w", 1}});
    usage.rebind(without_account);
    usage.decay(week);
    CHECK(static_cast<double>(usage.usage(at(without_account, "a"))) == Approx(800 * SlurmDecay{week}.after(week)));
    CHECK(usage.snapshot(1000)[0] == usage.snapshot(1000)[at(without_account, "a").value]);
    CHECK(usage.snapshot(1000)[0] > 400000);
}

TEST_CASE("slurm usage: a reset takes a node's usage from it, from all below and from all above") {
    const ShareTree tree = tree_of({{"a", 1}, {"a/@u", 1}, {"a/@v", 1}, {"b", 1}, {"b/@w", 1}});
    SlurmUsage usage{tree, SlurmDecay{week}};
    usage.add(at(tree, "a/@u"), 3000);
    usage.add(at(tree, "a/@v"), 1000);
    usage.add(at(tree, "b/@w"), 10);
    usage.reset(at(tree, "a/@u"));
    CHECK(usage.usage(at(tree, "a")) == 1000);
    CHECK(usage.usage(root_node) == 1010);
    usage.reset(at(tree, "a"));
    CHECK(usage.usage(at(tree, "a/@v")) == 0);
    CHECK(usage.usage(root_node) == 10);
    CHECK(usage.snapshot(1)[0] == 10);
}

TEST_CASE("slurm usage: another half-life holds from the next pass on") {
    const ShareTree tree = tree_of({{"@u", 1}});
    SlurmUsage usage{tree, SlurmDecay{week}};
    usage.add(at(tree, "@u"), 1000);
    usage.decay(week);
    const long double half = usage.usage(root_node);
    usage.set_decay(SlurmDecay{std::chrono::hours{1}});
    CHECK(usage.usage(root_node) == half);
    usage.decay(std::chrono::hours{1});
    CHECK(static_cast<double>(usage.usage(root_node)) ==
          Approx(static_cast<double>(half) * SlurmDecay{std::chrono::hours{1}}.after(std::chrono::hours{1})));
}
