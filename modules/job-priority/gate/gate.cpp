// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what each job counts against the limits. See gate.hpp.
#include "modules/job-priority/gate/gate.hpp"

#include <algorithm>

namespace weir::priority {
namespace {

std::uint64_t counted(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, number));
}

LimitedJob asked(const BookJob& job) {
    return {counted(job.request->nodes), counted(job.request->cores), job.request->wall_time};
}

}  // namespace

std::vector<FluxJobId> Gate::restart(const ShareTree& tree, const JobBook& book) {
    std::vector<FluxJobId> admitted = admission_.admitted();
    admission_.clear();
    is_limited_ = has_limits(tree);
    for (const auto& [id, job] : book.jobs()) {
        changed_.push_back(id);
    }
    return admitted;
}

void Gate::keep_admitted(const std::vector<FluxJobId>& ids) {
    for (const FluxJobId id : ids) {
        admission_.keep_admitted(id);
    }
}

void Gate::keep_admitted_except_withheld(const JobBook& book) {
    if (const auto withheld = std::exchange(withheld_, std::nullopt)) {
        for (const auto& [id, job] : book.jobs()) {
            if (withheld->count(id) == 0) {
                admission_.keep_admitted(id);
            }
        }
    }
}

void Gate::judge(const ShareTree& tree, const BookJob& job, bool is_new) {
    if (!is_limited_) {
        return;
    }
    auto hit = LimitCounts::never(tree, job.payer, asked(job));
    hit = hit || !is_new ? hit : admission_.counts().submission(tree, job.payer);
    if (hit) {
        refusals_.emplace_back(job.id, "refused by a limit of the share tree: " + words_of(*hit, tree));
    }
}

void Gate::count(const ShareTree& tree, FluxJobId id, const BookJob* job) {
    if (!is_limited_) {
        return;
    }
    is_due_ = true;
    if (job == nullptr || job->is_over) {
        admission_.remove(tree, id);
    } else if (job->has_resources) {
        const LimitedJob got{counted(job->got_nodes), counted(job->got_cores), job->request->wall_time};
        admission_.start(tree, id, job->payer, got);
    } else if (job->is_pending() && !job->is_held()) {
        admission_.wait(tree, id, job->payer, asked(*job));
    } else {
        admission_.park(tree, id, job->payer, asked(*job));
    }
}

void Gate::cap(FluxJobId id, bool is_capped) {
    if (is_capped) {
        capped_.insert(id);
    } else {
        capped_.erase(id);
    }
    changed_.push_back(id);
}

void Gate::admit(const ShareTree& tree, const UsageLedger& ledger, Instant now,
                 const Admission::PriorityOf& priority_of) {
    is_due_ = false;
    if (is_limited_) {
        admission_.admit(tree, ledger, now, priority_of);
        changed_.insert(changed_.end(), admission_.changed().begin(), admission_.changed().end());
    }
}

void Gate::tell(const std::function<void(FluxJobId, bool)>& held_back) {
    for (const FluxJobId id : std::exchange(changed_, {})) {
        held_back(id, admission_.is_held_back(id) || is_capped(id));
    }
}

std::string Gate::limit_of(const ShareTree& tree, FluxJobId id) const {
    const auto hit = admission_.is_held_back(id) ? admission_.hit(id) : std::nullopt;
    return hit ? words_of(*hit, tree) : std::string();
}

}  // namespace weir::priority
