// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the policies other than multifactor in the service: who their jobs are, what accounts use, when they are asked.
// See priority_service.hpp; doc/adr/0151.
#include <algorithm>

#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {

JobOwner PriorityService::owner_of(const BookJob& job) {
    const std::uint32_t userid = job.charged_userid();
    JobOwner owner{payer_of(job), users_.name(userid), {}, job.request.account};
    if (settings_.policy == PolicyKind::moab) {
        const std::vector<std::string>& groups = users_.groups(userid);
        owner.group = groups.empty() ? std::string() : groups.front();
        const ShareTree& tree = accounting_.tree();
        owner.account = owner.payer == unassociated ? owner.account : tree.path(account_above(tree, owner.payer));
    }
    return owner;
}

void PriorityService::configure_order(Instant now) {
    order_time_ = now;
    if (order_.configure(settings_, now)) {
        return;
    }
    order_ = PolicyOrder(settings_, machine_);
    capped_.clear();
    for (const auto& [id, job] : accounting_.running()) {
        const BookJob* known = book_.find(id);  // not of jobs that run in a child
        order_.hold(id, job.cores, known == nullptr ? std::string() : users_.name(known->charged_userid()), now);
    }
}

void PriorityService::leave(FluxJobId id, Instant at) {
    if (const PriorityEngine::Slot* slot = queue_.find(id)) {
        order_.remove(JobId{slot->value}, at);
    }
    queue_.remove(id);
    pusher_.forget(id);
    capped_.erase(id);
}

void PriorityService::give_values(Instant now, bool is_full) {
    given_.clear();
    if (is_sum()) {
        return;
    }
    is_full ? order_.prioritize(accounting_.tree(), measured_, now, given_)
            : order_.prioritize_fresh(accounting_.tree(), measured_, now, given_);
    for (const auto& [slot, value] : given_) {
        queue_.give(PriorityEngine::Slot{static_cast<std::uint32_t>(slot.value)}, std::max(value, priority_min));
    }
}

void PriorityService::hold_capped() {
    for (const auto& [slot, value] : given_) {
        const PriorityEngine::Slot place{static_cast<std::uint32_t>(slot.value)};
        const FluxJobId id = queue_.engine().inputs(place).id.value;
        const bool is_capped = value == priority_held;
        is_capped ? (void)capped_.insert(id) : (void)capped_.erase(id);
        pusher_.hold_back(id, is_capped || admission_.is_held_back(id));
    }
}

OrderTerms PriorityService::explain_order(FluxJobId id, const Measured& measured, Instant now) const {
    const PriorityEngine::Slot* slot = queue_.find(id);
    if (slot == nullptr || !order_.has(JobId{slot->value})) {
        return {};
    }
    return order_.explain(JobId{slot->value}, accounting_.tree(), measured, now);
}

std::string PriorityService::order_lead(FluxJobId own, FluxJobId other, const Measured& measured, Instant now) const {
    const PriorityEngine::Slot* mine = queue_.find(own);
    const PriorityEngine::Slot* theirs = queue_.find(other);
    if (mine == nullptr || theirs == nullptr || !order_.has(JobId{mine->value}) || !order_.has(JobId{theirs->value})) {
        return {};
    }
    return order_.lead(JobId{mine->value}, JobId{theirs->value}, accounting_.tree(), measured, now);
}

Passings PriorityService::passings_of(FluxJobId a, FluxJobId b, const Measured& measured, Instant now,
                                      std::size_t limit) const {
    const PriorityEngine& engine = queue_.engine();
    const PriorityEngine::Slot slots[] = {*queue_.find(a), *queue_.find(b)};
    const auto course_of = [&](int i) {
        const JobId slot{slots[i].value};
        return order_.has(slot) ? order_.course(slot, accounting_.tree(), measured) : std::nullopt;
    };
    // A held or expedited job has its place whatever others gain; so have both where time changes nothing.
    std::optional<Course> courses[] = {course_of(0), course_of(1)};
    const bool moves = courses[0] && courses[1];
    for (int i = 0; i < 2; i++) {
        const JobInputs job = engine.inputs(slots[i]);
        if (!moves) {
            courses[i] = constant_course(engine.priority(slots[i], now, factors()), job.submit, job.id);
        }
        courses[i]->submit = job.submit;
        courses[i]->id = job.id;
    }
    const Instant until = moves ? now + std::chrono::hours(24 * 365) : never;
    return passings(*courses[0], *courses[1], now, until, limit);
}

}  // namespace weir::priority
