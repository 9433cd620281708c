// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage_hours.hpp.
#include "modules/job-priority/charges/usage_hours.hpp"

#include <algorithm>
#include <string>

#include "libfairshare/tree/payer.hpp"

namespace weir::priority {

UsageSlot usage_slot(const ShareTree& tree, const RunningJob& job) {
    UsageSlot slot{.queue = job.bill.queue, .project = job.bill.project};
    if (!is_in_tree(job.payer)) {
        slot.account = payer_path(tree, job.payer);
        return slot;
    }
    slot.account = tree.path(account_above(tree, job.payer));
    const NodeKind kind = tree.kind(job.payer);
    slot.user = kind == NodeKind::user ? tree.name(job.payer) : tree.component(job.payer);
    return slot;
}

void split_into_hours(UsageSlot slot, const CoreSpan& span,
                      const std::function<void(const UsageSlot&, std::int64_t core_us)>& take) {
    const std::int64_t to = micros(span.to);
    std::int64_t from = std::max(micros(span.from), to - usage_hours_kept * micros_per_hour);
    while (from < to && span.cores != 0) {
        slot.hour = floor_divide(from, micros_per_hour);
        const std::int64_t end = std::min(to, (slot.hour + 1) * micros_per_hour);
        take(slot, span.cores * (end - from));
        from = end;
    }
}

}  // namespace weir::priority
