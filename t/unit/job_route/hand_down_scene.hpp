// SPDX-License-Identifier: LGPL-3.0-only
// Owns: children and jobs for the tests of HandDown, and its plan where nothing forbids a child.
#pragma once
#include <vector>

#include "modules/job-route/hand_down.hpp"

namespace weir::route::test {

using Moves = std::vector<HandDown::Move>;
using Standing = HandDown::Standing;

constexpr JobId left{1};
constexpr JobId right{2};

inline HandDown::ChildFacts of_cores(std::int64_t cores, std::int64_t own = 0) {
    return {{"batch"}, cores, own, true};
}

inline HandDown two_children(std::int64_t cores, std::int64_t depth = 2) {
    HandDown plan(depth);
    plan.set_child(left, of_cores(cores));
    plan.set_child(right, of_cores(cores));
    return plan;
}

inline HandDown::Job a_job(Standing standing, std::int64_t cores, JobId child = {}, std::int64_t priority = 16) {
    return {standing, child, priority, cores, "batch", true};
}

inline bool all_take(int, int) {
    return true;
}

inline Moves planned(HandDown& plan) {
    return plan.plan(
        {[](JobId, JobId) { return true; }, [](const HandDown::JobClass&) { return HandDown::Takers{100}; }, all_take});
}

/// Whether the job should not start with the cores that its child has given it.
inline bool is_objected(HandDown& plan, JobId id, const HandDown::Rules& rules) {
    return !plan.objections({id}, rules).empty();
}

/// Carries a plan out, as if each job were on record at once.
inline Moves carried_out(HandDown& plan, std::int64_t cores) {
    Moves moves = planned(plan);
    for (const HandDown::Move& move : moves) {
        plan.set(move.id, move.to.value == 0 ? a_job(Standing::waits, cores) : a_job(Standing::ahead, cores, move.to));
    }
    return moves;
}

}  // namespace weir::route::test
