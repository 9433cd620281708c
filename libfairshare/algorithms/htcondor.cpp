// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see htcondor.hpp.
#include "libfairshare/algorithms/htcondor.hpp"

#include <algorithm>
#include <numeric>

#include "libfairshare/usage/step_decay.hpp"

namespace weir {

namespace {

double most(const PieSubmitter& submitter) {
    return std::max(std::min(submitter.wanted, submitter.ceiling), 0.0);
}

}  // namespace

double Htcondor::real_priority(double rup, double cores, Duration elapsed) const {
    return stepped(rup, half_life_factor(elapsed, half_life), cores, least);
}

std::vector<double> pie_slices(std::span<const PieSubmitter> submitters, double cores) {
    std::vector<double> slices;
    for (const PieSubmitter& submitter : submitters) {
        slices.push_back(std::min(std::max(submitter.floor, 0.0), most(submitter)));
    }
    const double floors = std::accumulate(slices.begin(), slices.end(), 0.0);
    if (floors > cores) {
        for (double& slice : slices) {
            slice *= cores / floors;
        }
        return slices;
    }
    double left = cores - floors;
    std::vector<std::size_t> hungry(submitters.size());
    std::iota(hungry.begin(), hungry.end(), std::size_t{0});
    while (left > 0 && !hungry.empty()) {  // each spin satisfies one or is the last
        double parts = 0;
        for (const std::size_t i : hungry) {
            parts += 1 / submitters[i].effective_priority;
        }
        const auto offer = [&](std::size_t i) { return left / submitters[i].effective_priority / parts; };
        const auto sated = [&](std::size_t i) { return slices[i] + offer(i) >= most(submitters[i]); };
        std::vector<std::size_t> still;
        double given = 0;
        for (const std::size_t i : hungry) {
            if (sated(i)) {
                given += most(submitters[i]) - slices[i];
                slices[i] = most(submitters[i]);
            } else {
                still.push_back(i);
            }
        }
        if (still.size() == hungry.size()) {
            for (const std::size_t i : hungry) {
                slices[i] += offer(i);
            }
            break;
        }
        left -= given;
        hungry = std::move(still);
    }
    return slices;
}

}  // namespace weir
