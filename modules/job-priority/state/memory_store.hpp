// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a state file in memory: the interface of state_store.hpp without SQLite, each batch whole or not at all, for
// tests and simulations that kill often. Must not know: what the rows mean.
#pragma once
#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

class MemoryStore {
  public:
    void apply(const StateBatch& batch);
    const SavedState& saved() const { return saved_; }

  private:
    SavedState saved_;
};

}  // namespace weir::priority
