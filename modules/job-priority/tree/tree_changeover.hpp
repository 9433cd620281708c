// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a share tree with all its consequences for charges and state, ready to be applied. Must not know: priorities,
// who proposed the tree.
#pragma once
#include <utility>
#include <vector>

#include "modules/job-priority/charges/accounting.hpp"
#include "modules/job-priority/state/state_log.hpp"
#include "modules/job-priority/tree/tree_store.hpp"

namespace weir::priority {

/// `batch` must be written before the rest is applied.
struct TreeChangeover {
    TreeProposal proposal;
    Accounting accounting;
    std::vector<NodeId> moved;  ///< by node of the tree in force, the new payer
    StateLog log;               ///< without what is in `batch`
    StateBatch batch;
    Instant at;  ///< of the change
};

/// \param accounting, log those in force; they are not changed. O(size).
inline TreeChangeover changeover_to(TreeProposal proposal, Accounting accounting, StateLog log, Instant now) {
    log.name_usage(accounting);
    std::vector<NodeId> moved = accounting.rebind(proposal.tree, now);
    accounting.rewrite(log);
    log.add_revision(proposal.revision);
    StateBatch batch = log.take(accounting);
    return {std::move(proposal), std::move(accounting), std::move(moved), std::move(log), std::move(batch), now};
}

}  // namespace weir::priority
