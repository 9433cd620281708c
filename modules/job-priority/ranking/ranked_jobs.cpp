// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see ranked_jobs.hpp.
#include "modules/job-priority/ranking/ranked_jobs.hpp"

namespace weir::priority {

void RankedJobs::apply(const AppliedEvent& applied, bool is_charged) {
    Ranking& ranking = stages_.ranking;
    const FluxJobId id = applied.event.id;
    switch (applied.change) {
        case BookChange::none:
            break;
        case BookChange::inputs: {
            const bool is_new = ranking.queue().find(id) == nullptr;
            put(*applied.job, PutCause::job);
            if (is_new && applied.is_live) {
                first_.meet(*applied.job);
            }
            break;
        }
        case BookChange::started:
            ranking.leave(id, true);
            hold(*applied.job);
            break;
        case BookChange::ended:
            ranking.release(id);
            break;
        case BookChange::gone:
            given_.forget(*applied.job);
            if (applied.job->is_pending()) {  // else it left when it started
                ranking.leave(id, false);
            }
            site_.forget(id);
            break;
    }
    if (is_charged) {
        keep_factor(*applied.job);
        ranking.mark_like(*applied.job);
    }
}

/// A partition is no job of a user: the routed jobs in it hold its cores.
void RankedJobs::hold(const BookJob& job) {
    if (stages_.ranking.order().is_sum()) {
        return;
    }
    if (!stages_.children.is_partition(job)) {
        stages_.ranking.hold(job.id, job.got_cores, stages_.users.name(job.charged_userid()));
    }
}

bool RankedJobs::configure(Instant now) {
    if (!stages_.ranking.configure(stages_.accounting.tree(), now)) {
        return false;
    }
    for (const BookJob* job : stages_.book.in_order()) {
        if (job->has_resources) {
            hold(*job);
        }
    }
    return true;
}

/// The parent's factor of the job is looked up by names once, while nothing that decides it changes. Where the look-up
/// itself changes the answers about users, the number before it is kept: the next call looks again.
void RankedJobs::keep_factor(const BookJob& job) {
    const Ranking& ranking = stages_.ranking;
    const std::uint64_t basis = ranking.factor_basis();
    if (!ranking.shares().are_parents() || job.factor_basis == basis) {
        return;
    }
    FoundTerms& like = stages_.book.found_like(job);
    if (like.factor_basis != basis) {
        like.factor = ranking.factor_index(job);
        like.factor_basis = basis;
    }
    stages_.book.set_factor(job.id, like.factor, basis);
}

void RankedJobs::put(const BookJob& job, PutCause cause) {
    keep_factor(job);
    const auto from_above = given_.of(job);  // called in any case: it notes which job here is a copy
    const bool is_followed = from_above && settings_.takes_parent_factors;
    stages_.ranking.put(stages_.accounting.tree(), job, site_.of(job.id), is_followed ? from_above : std::nullopt,
                        cause);
    if (is_followed || job.request->is_instance) {
        is_full_due_ = stages_.ranking.set_routed(true) || is_full_due_;
    }
}

void RankedJobs::put_all() {
    first_.values().clear();
    for (const BookJob* job : stages_.book.in_order()) {
        if (job->is_pending()) {
            put(*job, PutCause::settings);
        }
    }
}

void RankedJobs::put_pending(FluxJobId id) {
    if (const BookJob* job = stages_.book.find(id); job != nullptr && job->is_pending()) {
        put(*job, PutCause::job);
    }
}

void RankedJobs::begin_backlog() {
    given_.forget_copies();
    stages_.ranking.clear();
}

void RankedJobs::set_machine(const MachineSize& machine) {
    if (stages_.ranking.set_machine(stages_.accounting.tree(), machine)) {
        put_all();
    }
}

void RankedJobs::take_parent_factors(const std::vector<FactorRow>& rows, bool is_complete) {
    stages_.ranking.take_parent_factors(stages_.accounting.tree(), rows, is_complete);
    put_all();
}

void RankedJobs::accept(const SiteEdit& edit) {
    site_.accept(edit);
    for (const auto& [id, row] : edit.rows) {
        put_pending(id);
    }
}

void RankedJobs::take_given(const std::vector<GivenPriority>& rows, bool is_all) {
    for (const FluxJobId id : given_.take(rows, is_all)) {
        put_pending(id);
    }
}

void RankedJobs::evaluated(Pass which) {
    first_.renew();
    if (which == Pass::full) {
        is_full_due_ = false;
    }
}

}  // namespace weir::priority
