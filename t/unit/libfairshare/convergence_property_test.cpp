// SPDX-License-Identifier: LGPL-3.0-only
// Owns: delivered usage goes to the shares while all users are saturated, and how fast.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "libfairshare/algorithms/algorithm.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/support.hpp"

using namespace weir;
using namespace weir::testing;

namespace {

/// Two to four accounts of one to four users each, and up to two users beside them; shares 1 to 9.
ShareTree saturated_tree() {
    const auto shares = [] { return draw::in_range<std::int64_t>(1, 10); };
    Lines lines;
    const int accounts = draw::in_range(2, 5);
    for (int a = 0; a < accounts; ++a) {
        const std::string account = "a" + std::to_string(a);
        lines.emplace_back(account, shares());
        const int users = draw::in_range(1, 5);
        for (int u = 0; u < users; ++u) {
            lines.emplace_back(account + "/@u" + std::to_string(u), shares());
        }
    }
    const int beside = draw::in_range(0, 3);
    for (int u = 0; u < beside; ++u) {
        lines.emplace_back("@v" + std::to_string(u), shares());
    }
    return tree_of(lines);
}

/// Every slot goes to who stands first; the greatest |part of all slots - entitled share| after the last.
double error_after(const Algorithm& algorithm, const ShareTree& tree, unsigned slots) {
    std::vector<CoreMicros> usage(tree.size(), 0);
    std::vector<DynamicUse> dynamic(tree.size());
    Standings standings;
    for (unsigned slot = 0; slot < slots; ++slot) {
        evaluate(algorithm, tree, Measures{usage, dynamic}, standings);
        std::uint32_t first = 0;
        for (std::uint32_t i = 1; i < tree.size(); ++i) {
            first = standings.rank[i] > standings.rank[first] ? i : first;
        }
        for (NodeId at{first};; at = tree.parent(at)) {
            usage[at.value] += 3600000000U;
            dynamic[at.value].run_time_h += 1;
            if (at == root_node) {
                break;
            }
        }
    }
    double worst = 0;
    for (std::uint32_t i = 1; i < tree.size(); ++i) {
        const double part = static_cast<double>(usage[i]) / static_cast<double>(usage[0]);
        worst = std::max(worst, std::abs(part - tree.entitled_share(NodeId{i})));
    }
    return worst;
}

}  // namespace

// Kills: a level value that leaves out the shares, or takes usage of the root's instead of the parent's as its whole.
// Classic and depth-oblivious promise no such thing: their effective usage mixes in the parent's. dynamic-user's
// constant for running jobs (RUN_JOB_FACTOR) wears off only with the hours.
TEST_CASE("all algorithms that promise it: saturated users get their shares") {
    draw::property("convergence", [] {
        const ShareTree tree = saturated_tree();
        struct Promise {
            const char* algorithm;
            double slots_off;  // at any time: so the error falls as 1 / slots
        };
        // Level by level it is as fast as whole slots allow; a factor over the whole path takes longer to settle.
        for (const auto& [name, slots_off] :
             {Promise{"fair-tree", 3}, Promise{"fair-tree-as-slurm", 3}, Promise{"weighted-tree", 3},
              Promise{"demand-capped", 3}, Promise{"served-share", 20}, Promise{"targets", 20}}) {
            const Algorithm algorithm = *algorithm_named(name);
            for (const unsigned slots : {100U, 400U}) {
                const double error = error_after(algorithm, tree, slots);
                RC_LOG() << name << " " << slots << " slots: " << error << "\n";
                RC_ASSERT(error * slots <= slots_off);
            }
        }
    });
}
