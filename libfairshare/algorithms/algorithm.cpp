// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see algorithm.hpp.
#include "libfairshare/algorithms/algorithm.hpp"

#include <array>
#include <string>

#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/tree/diagnostics.hpp"

namespace weir {

std::span<const AlgorithmEntry> algorithms() {
    static constexpr std::array<AlgorithmEntry, 9> table{{
        {"fair-tree", FairTree{}, "Slurm's Fair Tree as documented: level by level, ties merged, exact"},
        {"fair-tree-as-slurm", FairTreeAsSlurm{},
         "Fair Tree as slurmctld ranks: tied accounts apart, ties of rounded numbers"},
        {"classic", Classic{}, "Slurm's classic fair share: 2^-(effective usage / norm shares)"},
        {"depth-oblivious", Classic{.depth_oblivious = true}, "Slurm's classic fair share with DEPTH_OBLIVIOUS"},
        {"dynamic-user", Lsf{}, "LSF's dynamic user priority: shares / weighted use, siblings from the top"},
        {"served-share", ServedShare{}, "the Flux wiki's factor: 0.5 served as entitled, 0 over, 1 under"},
        {"demand-capped", DemandCapped{}, "as fair-tree, but idle siblings' shares go to those with demand"},
        {"targets", Moab{}, "Moab's tree: usage against targets, tier by tier; 0.5 is as entitled"},
        {"weighted-tree", FairTree{.users_before_tied_accounts = true},
         "flux-accounting's walk: as fair-tree, but a user comes before an account that it ties with"},
    }};
    return table;
}

Result<Algorithm> algorithm_named(std::string_view name) {
    std::vector<std::string_view> names;
    std::string list;
    for (const AlgorithmEntry& entry : algorithms()) {
        if (entry.name == name) {
            return entry.algorithm;
        }
        names.push_back(entry.name);
        list += (list.empty() ? "" : ", ") + std::string{entry.name};
    }
    const std::string hint = did_you_mean(name, names);
    return Error{std::errc::invalid_argument, "unknown fair-share algorithm \"" + std::string{name} + "\"; " +
                                                  (hint.empty() ? "" : hint + " ") + "known are " + list};
}

RanksBy ranks_by(const Algorithm& algorithm) {
    return std::visit([](const auto& chosen) { return chosen.ranks_by; }, algorithm);
}

void evaluate(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures, Standings& into) {
    std::visit([&](const auto& chosen) { chosen.evaluate(tree, measures, into); }, algorithm);
}

Standings evaluate(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures) {
    Standings made;
    evaluate(algorithm, tree, measures, made);
    return made;
}

NodeStanding node_standing(const Algorithm& algorithm, const ShareTree& tree, const Measures& measures, NodeId id) {
    return std::visit([&](const auto& chosen) { return chosen.node_standing(tree, measures, id); }, algorithm);
}

}  // namespace weir
