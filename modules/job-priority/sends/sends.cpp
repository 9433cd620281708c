// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see sends.hpp.
#include "modules/job-priority/sends/sends.hpp"

namespace weir::priority {

void Sends::apply(const AppliedEvent& applied) {
    const FluxJobId id = applied.event.id;
    switch (applied.change) {
        case BookChange::none:
        case BookChange::ended:
            break;
        case BookChange::inputs:
            memos_.mark(id, applied.job->is_held() && applied.job->is_pending());
            if (applied.job->is_held() || applied.job->is_expedited()) {
                plugin_.override(id);
            }
            break;
        case BookChange::started:
            plugin_.forget(id);
            scheduler_.withdraw(id);
            memos_.mark(id, false);
            break;
        case BookChange::gone:
            plugin_.forget(id);
            scheduler_.withdraw(id);
            memos_.forget(id);
            break;
    }
}

void Sends::hold_back(FluxJobId id, bool is_held_back) {
    plugin_.hold_back(id, is_held_back);
    memos_.mark(id, is_held_back);
}

void Sends::end_backlog(const std::set<FluxJobId>& pending) {
    plugin_.retain(pending);
    scheduler_.retain(pending);
}

}  // namespace weir::priority
