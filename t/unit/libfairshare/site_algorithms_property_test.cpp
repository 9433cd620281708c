// SPDX-License-Identifier: LGPL-3.0-only
// What the other sites' algorithms promise: scale, permutation, monotony, convergence.
#include <catch2/catch.hpp>
#include <numeric>

#include "libfairshare/algorithms/gridengine.hpp"
#include "libfairshare/algorithms/htcondor.hpp"
#include "libfairshare/algorithms/lsf_dispatch.hpp"
#include "libfairshare/algorithms/moab.hpp"
#include "libfairshare/algorithms/openpbs.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/generators.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// At least one user, one more than random_lines() made.
std::vector<RandomLine> lines_with_users() {
    auto lines = random_lines();
    lines.push_back({"@u0", draw::in_range(0, 4), static_cast<CoreMicros>(draw::in_range(0, 5))});
    return lines;
}

/// Usage of the random lines, in slots for LSF.
std::vector<DynamicUse> use_of(const std::vector<CoreMicros>& usage) {
    std::vector<DynamicUse> made(usage.size());
    for (std::size_t i = 0; i < usage.size(); ++i) {
        made[i].job_slots = static_cast<double>(usage[i]);
    }
    return made;
}

/// Ranks of one algorithm by path.
using Ranks = std::map<std::string, std::uint32_t>;

template <typename Algorithm>
Standings standings_of(const Algorithm& algorithm, const ShareTree& tree, const std::vector<CoreMicros>& usage) {
    const auto use = use_of(usage);
    Standings made;
    algorithm.evaluate(tree, {usage, use}, made);
    return made;
}

template <typename Algorithm>
Ranks ranks(const Algorithm& algorithm, const std::vector<RandomLine>& lines) {
    const ShareTree tree = tree_of_random(lines);
    const Standings standings = standings_of(algorithm, tree, usage_of(tree, lines));
    Ranks made;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        made[tree.path(NodeId{i})] = standings.rank[i];
    }
    return made;
}

/// Calls with each algorithm.
template <typename Check>
void for_each_algorithm(Check check) {
    check(Lsf{});
    check(Moab{});
    check(Moab{.tier_weight = 2, .is_ratio = true});
    check(OpenPbs{.unit = 1});
    check(GridEngine{.unit = 1});
}

}  // namespace

// Kills: ties by id; sums whose order shows; a walk that visits siblings in listed order.
TEST_CASE("sites' algorithms: the order of siblings changes nothing") {
    draw::property("permutation", [] {
        const auto lines = random_lines();
        std::vector<RandomLine> turned{lines.rbegin(), lines.rend()};
        for_each_algorithm(
            [&](const auto& algorithm) { RC_ASSERT(ranks(algorithm, lines) == ranks(algorithm, turned)); });
    });
}

// Kills: raw shares in the place of shares among siblings.
TEST_CASE("sites' algorithms: multiplying all shares changes nothing") {
    draw::property("scale", [] {
        const auto lines = random_lines();
        auto scaled = lines;
        const std::int64_t by = draw::in_range<std::int64_t>(2, 1000);
        for (RandomLine& line : scaled) {
            line.shares *= by;
        }
        for_each_algorithm(
            [&](const auto& algorithm) { RC_ASSERT(ranks(algorithm, lines) == ranks(algorithm, scaled)); });
    });
}

// Kills: target - usage turned round; usage that multiplies where it should divide. OpenPBS counts a leaf's first unit
// before it is used, an account's not, so the promise begins at one unit.
TEST_CASE("sites' algorithms: more usage never raises a factor, more shares never lower it") {
    draw::property("monotony", [] {
        auto lines = lines_with_users();
        auto which = draw::in_range<std::size_t>(0, lines.size());
        which = lines[which].path.find('@') != std::string::npos ? which : lines.size() - 1;
        const auto factor = [&](const auto& algorithm) {
            const ShareTree tree = tree_of_random(lines);
            return standings_of(algorithm, tree, usage_of(tree, lines)).factor[at(tree, lines[which].path).value];
        };
        for_each_algorithm([&](const auto& algorithm) {
            if constexpr (std::is_same_v<std::decay_t<decltype(algorithm)>, OpenPbs>) {
                lines[which].usage = std::max(lines[which].usage, algorithm.unit);
            }
            const RandomLine kept = lines[which];
            const double before = factor(algorithm);
            lines[which].usage += static_cast<CoreMicros>(draw::in_range(1, 50));
            RC_ASSERT(factor(algorithm) <= before + 1e-12);
            lines[which] = kept;
            lines[which].shares += draw::in_range(1, 50);
            RC_ASSERT(factor(algorithm) >= before - 1e-12);
            lines[which] = kept;
        });
    });
}

// Kills: a dispatch that charges the leaf alone; an order that is not put right after a charge.
TEST_CASE("LSF dispatch: with all users saturated slots go to the shares, to one slot a sibling") {
    draw::property("convergence", [] {
        auto lines = lines_with_users();
        for (RandomLine& line : lines) {
            line.shares = draw::in_range(1, 6);
        }
        const ShareTree tree = tree_of_random(lines);
        const LsfFactors factors;
        LsfDispatch dispatch{tree, factors, {}};
        const int slots = draw::in_range(1, 500);
        std::vector<double> held(tree.size());
        std::uint64_t order = 0;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            for (int job = 0; tree.is_association(NodeId{i}) && job < slots; ++job) {
                dispatch.submit({NodeId{i}, order++});
            }
        }
        for (int i = 0; i < slots; ++i) {
            const auto job = dispatch.next();
            RC_ASSERT(job.has_value());
            for (NodeId at = job->leaf; at != root_node; at = tree.parent(at)) {
                held[at.value] += 1;
            }
        }
        // (1 + slots) / shares of two siblings that wait differ by at most what the last start of either added.
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            for (NodeId other : tree.children(tree.parent(NodeId{i}))) {
                if (held[i] > 0 && held[other.value] > 0) {
                    RC_ASSERT(held[i] / tree.shares(NodeId{i}) <= (1 + held[other.value]) / tree.shares(other) + 1e-9);
                }
            }
        }
    });
}

// Kills: a spin that forgets the ceilings; one that hands out what is not there.
TEST_CASE("HTCondor: the pie is eaten up, and nobody gets more than wanted or less than another in need") {
    draw::property("conservation", [] {
        std::vector<PieSubmitter> submitters;
        const int count = draw::in_range(1, 10);
        double wanted = 0;
        for (int i = 0; i < count; ++i) {
            PieSubmitter one;
            one.effective_priority = draw::in_range(1, 1000);
            one.wanted = draw::in_range(0, 100);
            one.floor = draw::in_range(0, 10);
            one.ceiling = draw::in_range(0, 80);
            wanted += std::min(one.wanted, one.ceiling);
            submitters.push_back(one);
        }
        const double cores = draw::in_range(1, 300);
        const auto slices = pie_slices(submitters, cores);
        const double given = std::accumulate(slices.begin(), slices.end(), 0.0);
        RC_ASSERT(std::abs(given - std::min(cores, wanted)) < 1e-9 * (1 + cores));
        for (std::size_t i = 0; i < slices.size(); ++i) {
            RC_ASSERT(slices[i] <= std::min(submitters[i].wanted, submitters[i].ceiling) + 1e-9);
        }
    });
}

// Kills: clamping where it damps; parts of the inactive that are lost.
TEST_CASE("Grid Engine: the active leaves' parts add up to the machine") {
    draw::property("conservation", [] {
        auto lines = lines_with_users();
        for (RandomLine& line : lines) {
            line.shares = draw::in_range(1, 6);
        }
        const ShareTree tree = tree_of_random(lines);
        std::vector<std::uint64_t> demand(tree.size());
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            demand[i] = tree.is_association(NodeId{i}) ? draw::in_range<std::uint64_t>(0, 2) : 0;
        }
        demand[at(tree, "@u0").value] = 1;
        const auto usage = usage_of(tree, lines);
        const auto parts = GridEngine{.compensation_factor = 1.2, .unit = 1}.targets(tree, {usage, {}, demand});
        double sum = 0;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            sum += tree.is_association(NodeId{i}) ? parts[i].short_term : 0;
        }
        RC_ASSERT(std::abs(sum - 1) < 1e-9);
    });
}
