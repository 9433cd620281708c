// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see membership.hpp.
#include "modules/job-priority/charges/membership.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "libfairshare/tree/share_tree_diff.hpp"

namespace weir::priority {

void Membership::apply(const AppliedEvent& applied, bool is_every) {
    const bool is_waiting_or_starting = applied.change == BookChange::inputs || applied.change == BookChange::started;
    if (applied.is_active() && !applied.job->is_over && (is_waiting_or_starting || is_every)) {
        resolve(*applied.job);
    }
}

void Membership::resolve_all(bool is_every) {
    for (const BookJob* job : book_.in_order()) {
        if (has_payer(*job, is_every) && !keeps_payer(*job)) {
            resolve(*job);
        }
    }
}

void Membership::follow_charges(const std::function<void(FluxJobId)>& changed) {
    for (const FluxJobId id : accounting_.running_ids()) {
        const BookJob* job = book_.find(id);
        const RunningJob& running = *accounting_.find(id);
        if (job != nullptr && job->has_resources && is_in_tree(running.payer) && job->payer != running.payer) {
            book_.set_payer(id, running.payer);
            changed(id);
        }
    }
}

std::uint64_t Membership::basis() {
    if (tree_ != accounting_.tree_ptr() || version_ != payers_.version()) {
        tree_ = accounting_.tree_ptr();
        version_ = payers_.version();
        basis_ += 1;
    }
    return basis_;
}

/// Where the look-up itself changes the tree or the answers, `before` is not the basis any more: the next call looks
/// again.
NodeId Membership::resolve(const BookJob& job) {
    resolved_ += 1;
    const std::uint64_t before = basis();
    if (job.payer_basis == before) {
        return job.payer;
    }
    FoundTerms& like = book_.found_like(job);
    if (like.payer_basis != before) {
        const auto payer = payers_.would_pay(accounting_.tree(), job);
        like.payer = payer ? accounting_.ledgers().admit(payer->association, payer->user) : unassociated;
        like.payer_basis = before;
    }
    book_.set_payer(job.id, like.payer, before);
    return like.payer;
}

/// One after the other, as resolve_all() does: who is a member of one account has a default account.
ShareTree Membership::with_members(const ShareTree& lines, bool is_every) const {
    ShareTree tree = accounting_.ledgers().with_members(lines);
    const std::vector<NodeId> places = match_nodes(accounting_.tree(), tree);
    Payers payers = payers_;
    payers.set_tree(tree);
    for (const BookJob* job : book_.in_order()) {
        const bool is_asked =
            has_payer(*job, is_every) && !(keeps_payer(*job) && places[job->payer.value] != unassociated);
        const auto payer = is_asked ? payers.would_pay(tree, *job) : std::nullopt;
        if (payer && !payer->association.leaf) {
            if (auto grown = tree.with_member(payer->association.account, payer->user)) {
                tree = std::move(grown->first);
            }
        }
    }
    return tree;
}

void Membership::admit_newcomers(std::span<const JobEvent> backlog) {
    accounting_.ledgers().admit(payers_.newcomers(accounting_.tree(), backlog));
}

}  // namespace weir::priority
