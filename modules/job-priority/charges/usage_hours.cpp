// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_hours.hpp.
#include "modules/job-priority/charges/usage_hours.hpp"

#include <string>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {

UsageSlot usage_slot(const ShareTree& tree, const HourOfPayer& hour) {
    UsageSlot slot{.hour = hour.hour, .queue = hour.queue, .project = hour.project};
    if (!is_in_tree(hour.payer)) {
        slot.account = payer_path(tree, hour.payer);
        return slot;
    }
    slot.account = tree.path(account_above(tree, hour.payer));
    const NodeKind kind = tree.kind(hour.payer);
    slot.user = kind == NodeKind::user ? tree.name(hour.payer) : tree.component(hour.payer);
    return slot;
}

}  // namespace weir::priority
