// SPDX-License-Identifier: LGPL-3.0-only
// Owns: keeping the share tree's limits: what the book's jobs count, who is held back, who is refused. See
// priority_service.hpp and libfairshare/limits/admission.hpp; ADR 0127.
#include <algorithm>

#include "modules/job-priority/priority_service.hpp"

namespace weir::priority {
namespace {

std::uint64_t counted(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, number));
}

LimitedJob asked(const BookJob& job) {
    return {counted(job.request.nodes), counted(job.request.cores), job.request.wall_time};
}

}  // namespace

void PriorityService::judge_submission(const BookJob& job) {
    if (!has_limits_ || !is_synced_) {
        return;
    }
    const NodeId payer = payer_of(job);
    const ShareTree& tree = accounting_.tree();
    auto hit = LimitCounts::never(tree, payer, asked(job));
    hit = hit ? hit : admission_.counts().submission(tree, payer);
    if (hit) {
        refusals_.emplace_back(job.id, "refused by a limit of the share tree: " + words_of(*hit, tree));
    }
}

void PriorityService::judge_update(const BookJob* job) {
    if (!has_limits_ || !is_synced_ || job == nullptr || job->has_resources || job->is_over) {
        return;
    }
    const ShareTree& tree = accounting_.tree();
    if (const auto hit = LimitCounts::never(tree, payer_of(*job), asked(*job))) {
        refusals_.emplace_back(job->id, "refused by a limit of the share tree: " + words_of(*hit, tree));
    }
}

void PriorityService::count_limits(FluxJobId id) {
    if (!has_limits_) {
        return;
    }
    is_letting_in_due_ = true;
    const BookJob* job = book_.find(id);
    if (job == nullptr || job->is_over) {
        admission_.remove(accounting_.tree(), id);
        return;
    }
    const NodeId payer = payer_of(*job);
    const ShareTree& tree = accounting_.tree();
    if (job->has_resources) {
        admission_.start(tree, id, payer, {counted(job->got_nodes), counted(job->got_cores), job->request.wall_time});
    } else if (job->is_pending() && !job->is_held()) {
        admission_.wait(tree, id, payer, asked(*job));
    } else {
        admission_.park(tree, id, payer, asked(*job));
    }
}

void PriorityService::keep_places(const std::vector<FluxJobId>& ids) {
    for (const FluxJobId id : ids) {
        admission_.keep_place(id);
    }
}

void PriorityService::keep_places_but(const std::set<FluxJobId>& withheld) {
    for (const auto& [id, job] : book_.jobs()) {
        if (withheld.count(id) == 0) {
            admission_.keep_place(id);
        }
    }
}

void PriorityService::recount_limits() {
    const std::vector<FluxJobId> places = admission_.places();
    admission_.clear();
    has_limits_ = has_limits(accounting_.tree());
    for (const auto& [id, job] : book_.jobs()) {
        count_limits(id);
        pusher_.hold_back(id, capped_.count(id) != 0);
    }
    keep_places(places);
}

void PriorityService::let_in(Instant now) {
    is_letting_in_due_ = false;
    if (!has_limits_) {
        return;
    }
    const auto priority_of = [&](std::uint64_t id) -> std::uint64_t {
        const PriorityEngine::Slot* slot = queue_.find(id);
        const std::int64_t fine = slot == nullptr ? 0 : queue_.engine().fine_priority(*slot, now, factors());
        return static_cast<std::uint64_t>(std::max<std::int64_t>(0, fine));
    };
    admission_.let_in(accounting_.tree(), accounting_.ledger(), now, priority_of);
    for (const FluxJobId id : admission_.changed()) {
        pusher_.hold_back(id, admission_.is_held_back(id) || capped_.count(id) != 0);
    }
}

std::string PriorityService::held_back_by(FluxJobId id) const {
    if (const auto hit = admission_.is_held_back(id) ? admission_.hit(id) : std::nullopt) {
        return words_of(*hit, accounting_.tree());
    }
    const PriorityEngine::Slot* slot = capped_.count(id) != 0 ? queue_.find(id) : nullptr;
    const std::string cap = slot != nullptr ? order_.capped_by(JobId{slot->value}) : std::string();
    return cap.empty() ? cap : "the cap of [weir.moab." + cap + "]: what it has used, and this job, are more";
}

}  // namespace weir::priority
