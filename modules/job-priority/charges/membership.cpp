// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see membership.hpp.
#include "modules/job-priority/charges/membership.hpp"

namespace weir::priority {

void Membership::apply(const AppliedEvent& applied, bool is_every) {
    const bool is_waiting_or_starting = applied.change == BookChange::inputs || applied.change == BookChange::started;
    if (applied.is_active() && !applied.job->is_over && (is_waiting_or_starting || is_every)) {
        resolve(*applied.job);
    }
}

void Membership::resolve_all(bool is_every) {
    for (const auto& [id, job] : book_.jobs()) {
        if (job.is_pending() || job.has_resources || (is_every && !job.is_over)) {
            resolve(job);
        }
    }
}

NodeId Membership::resolve(const BookJob& job) {
    resolved_ += 1;
    const auto payer = payers_.would_pay(accounting_.tree(), job);
    const NodeId node = payer ? accounting_.ledgers().admit(payer->association, payer->user) : unassociated;
    book_.set_payer(job.id, node);
    return node;
}

void Membership::admit_newcomers(std::span<const JobEvent> backlog) {
    accounting_.ledgers().admit(payers_.newcomers(accounting_.tree(), backlog));
}

}  // namespace weir::priority
