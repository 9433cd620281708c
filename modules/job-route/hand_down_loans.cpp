// SPDX-License-Identifier: LGPL-3.0-only
// Owns: HandDown::Pass's part in loans: jobs that run behind the own jobs of a child of another queue. See
// hand_down_pass.hpp.
#include "modules/job-route/hand_down_pass.hpp"

namespace weir::route {

/// Loans on their way take their room whatever comes before them; each other one is looked at in its turn.
void HandDown::Pass::begin_loans() {
    for (const Late& late : late_) {
        const Job& job = late.place.record->job;
        if (!late.kind->is_lent) {
            continue;
        }
        if (job.standing == Standing::asked) {
            charge_coming(late.holder, *late.kind, job.priority);
        } else if (is_loan(job, true)) {
            uncount(late.holder, *late.kind);
        }
    }
}

/// Room that a lender leaves.
void HandDown::Pass::borrow(const Late& late) {
    const Job& job = late.place.record->job;
    const Class& kind = *late.kind;
    const std::size_t to = pick_of(kind.reach->lenders, job.cores, late.place.id, npos,
                                   [&](const Budget& budget) { return can_lend(budget, kind); });
    if (to == npos) {
        reserve(kind);
        return;
    }
    if (late.move != npos) {
        uncount(budget_of(moves_[late.move].to), kind);
        moves_[late.move].to = budgets_[to].id;
    } else {
        if (late.holder != npos) {
            uncount(late.holder, kind);
        }
        move(late.place.id, late.holder, to);
    }
    give(to, kind, late.place.priority);
}

/// A job that no child of its own queue can hold would wait for ever while worse ones borrow what comes free. The
/// lender that lacks the fewest cores lends nothing to these, until the job has room there.
void HandDown::Pass::reserve(const Class& kind) {
    if (!needs_lender(kind)) {
        return;
    }
    std::size_t best = npos;
    for (const std::size_t i : kind.reach->lenders) {
        const bool is_open_to_it = !budgets_[i].is_waited_for && !budgets_[i].is_reserved && allows(budgets_[i], kind);
        if (is_open_to_it && (best == npos || budgets_[i].free > budgets_[best].free)) {
            best = i;
        }
    }
    if (best != npos) {
        budgets_[best].is_reserved = true;
    }
}

/// A job that is with a lender and has not started.
void HandDown::Pass::keep_or_return(const Late& late) {
    const Record& record = *late.place.record;
    const Class& kind = *late.kind;
    Budget& budget = budgets_[late.holder];
    if (record.job.standing == Standing::asked || !budget.child->facts.is_open) {
        return;
    }
    check_allocation(late.place, budget, kind);
    if (record.job.is_held_back && kind.is_taken && !plan_.is_stuck(record)) {
        return;  // it stays for a while, as one that does not start, and takes nothing
    }
    const bool has_free = can_lend(budget, kind) && kind.is_taken;
    const bool is_stuck = has_free && plan_.is_stuck(record);
    if (has_free && !is_stuck) {
        count(late.holder, kind);
        charge(late.holder, kind, late.place);
        return;
    }
    leave(late.place, kind, late.holder, is_stuck);
}

}  // namespace weir::route
