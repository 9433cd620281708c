// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a state file in memory: what state_store.hpp does with SQLite, as a model for tests that kill often.
#pragma once
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority::testing {

class MemoryStore {
  public:
    void apply(const StateBatch& batch) {
        if (batch.meta) {
            saved_.meta = *batch.meta;
        }
        saved_.revisions.insert(saved_.revisions.end(), batch.revisions.begin(), batch.revisions.end());
        if (batch.checkpoint) {
            saved_.ledger = *batch.checkpoint;
            saved_.charges.clear();
            saved_.counted = batch.counted;
            saved_.counted_events.clear();
        }
        saved_.counted_events.insert(saved_.counted_events.end(), batch.counted_events.begin(),
                                     batch.counted_events.end());
        saved_.charges.insert(saved_.charges.end(), batch.charges.begin(), batch.charges.end());
        merge(saved_.running, batch.running);
        merge(saved_.charged, batch.charged);
        merge(saved_.reported, batch.reported);
        merge(saved_.downlinks, batch.downlinks);
        merge(saved_.closed, batch.closed);
        merge(saved_.site, batch.site);
        saved_.uplink.insert(batch.uplink.begin(), batch.uplink.end());
        saved_.uplink.erase(saved_.uplink.begin(), saved_.uplink.upper_bound(batch.uplink_acked));
    }
    const SavedState& saved() const { return saved_; }

  private:
    template <typename Into, typename From>
    static void merge(Into& into, const From& from) {
        for (const auto& [key, value] : from) {
            if (value) {
                into.insert_or_assign(key, *value);
            } else {
                into.erase(key);
            }
        }
    }
    SavedState saved_;
};

}  // namespace weir::priority::testing
