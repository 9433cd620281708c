// SPDX-License-Identifier: LGPL-3.0-only
// Owns: in one plan of HandDown, what counts against the limits of partitions. See hand_down_pass.hpp.
#include <algorithm>

#include "modules/job-route/hand_down_pass.hpp"

namespace weir::route {

void HandDown::Pass::begin_tallies() {
    for (Budget& budget : budgets_) {
        if (!budget.has_limits) {
            continue;
        }
        const ChildFacts& facts = budget.child->facts;
        const auto found = std::find_if(tallies_.begin(), tallies_.end(),
                                        [&facts](const Tally& tally) { return *tally.partition == facts.partition; });
        budget.tally = static_cast<std::size_t>(found - tallies_.begin());
        Tally& tally = found != tallies_.end() ? *found : tallies_.emplace_back();
        tally.partition = &facts.partition;
        tally.limits = &facts.limits;
        tally.counts.add(budget.child->busy);
        tally.counts.add(budget.child->asked);
    }
    count_loans();
}

void HandDown::Pass::count_loans() {
    for (std::size_t i = 0; i < budgets_.size(); i++) {
        if (budgets_[i].tally == npos) {
            continue;
        }
        for (const auto& [jobs, places] : budgets_[i].child->waiting) {
            const std::int64_t cores = most_cores(jobs.cores, jobs.whole_nodes, budgets_[i].child->facts.node_cores);
            const bool is_with_lender = is_lent(jobs, budgets_[i].child->facts);
            for (const Place& place : places) {
                if (is_loan(place.record->job, is_with_lender)) {
                    tallies_[budgets_[i].tally].counts.add(jobs.user, cores);
                }
            }
        }
    }
}

bool HandDown::Pass::allows(const Budget& budget, const Class& kind) const {
    if (budget.tally == npos) {
        return true;
    }
    const Tally& tally = tallies_[budget.tally];
    return !tally.counts.hit(*tally.limits, kind.user, counted(budget, kind));
}

void HandDown::Pass::count(std::size_t index, const Class& kind) {
    if (const std::size_t tally = budgets_[index].tally; tally != npos) {
        tallies_[tally].counts.add(kind.user, counted(budgets_[index], kind));
    }
}

void HandDown::Pass::uncount(std::size_t index, const Class& kind) {
    if (const std::size_t tally = budgets_[index].tally; tally != npos) {
        tallies_[tally].counts.remove(kind.user, counted(budgets_[index], kind));
    }
}

}  // namespace weir::route
