// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the policy's answers about jobs of the queue. See policy_reasons.hpp.
#include "modules/job-priority/ranking/policy_reasons.hpp"

namespace weir::priority {

OrderTerms explain_order(const RankedScene& scene, FluxJobId id) {
    const PriorityEngine::Slot* slot = scene.ranking.queue().find(id);
    const PolicyOrder& order = scene.ranking.order();
    if (slot == nullptr || !order.has(JobId{slot->value})) {
        return {};
    }
    return order.explain(JobId{slot->value}, scene.tree, scene.measured, scene.now);
}

std::string order_lead(const RankedScene& scene, FluxJobId own, FluxJobId other) {
    const PriorityEngine::Slot* mine = scene.ranking.queue().find(own);
    const PriorityEngine::Slot* theirs = scene.ranking.queue().find(other);
    const PolicyOrder& order = scene.ranking.order();
    if (mine == nullptr || theirs == nullptr || !order.has(JobId{mine->value}) || !order.has(JobId{theirs->value})) {
        return {};
    }
    return order.lead(JobId{mine->value}, JobId{theirs->value}, scene.tree, scene.measured, scene.now);
}

Passings passings_of(const RankedScene& scene, FluxJobId a, FluxJobId b, std::size_t limit) {
    const PriorityEngine& engine = scene.ranking.queue().engine();
    const PolicyOrder& order = scene.ranking.order();
    const PriorityEngine::Slot slots[] = {*scene.ranking.queue().find(a), *scene.ranking.queue().find(b)};
    const auto course_of = [&](int i) {
        const JobId slot{slots[i].value};
        return order.has(slot) ? order.course(slot, scene.tree, scene.measured) : std::nullopt;
    };
    // The place of a held or expedited job does not depend on what others gain. Nor does any place where time changes
    // nothing.
    std::optional<Course> courses[] = {course_of(0), course_of(1)};
    const bool moves = courses[0] && courses[1];
    for (int i = 0; i < 2; i++) {
        const JobInputs job = engine.inputs(slots[i]);
        if (!moves) {
            courses[i] =
                constant_course(engine.priority(slots[i], scene.now, scene.ranking.factors()), job.submit, job.id);
        }
        courses[i]->submit = job.submit;
        courses[i]->id = job.id;
    }
    const Instant until = moves ? scene.now + std::chrono::hours(24 * 365) : never;
    return passings(*courses[0], *courses[1], scene.now, until, limit);
}

std::string cap_of(const Ranking& ranking, FluxJobId id) {
    const PriorityEngine::Slot* slot = ranking.queue().find(id);
    const std::string cap = slot != nullptr ? ranking.order().capped_by(JobId{slot->value}) : std::string();
    return cap.empty() ? cap : "the cap of [weir.moab." + cap + "]: its usage and this job exceed it";
}

}  // namespace weir::priority
