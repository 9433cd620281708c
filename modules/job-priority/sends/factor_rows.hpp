// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the associations' factors as children get them: all, or those that changed since they were last sent.
// Must not know: how factors are computed, the children.
#pragma once
#include <vector>

#include "libfairshare/algorithms/algorithm.hpp"
#include "modules/job-priority/jobs/user_names.hpp"
#include "modules/job-priority/ranking/parent_factors.hpp"

namespace weir::priority {

/// Every association's factor; none where `standings` were not made of this tree yet.
std::vector<FactorRow> factor_rows(const ShareTree& tree, const Standings& standings, UserNames& users);

class FactorPublication {
  public:
    struct Rows {
        std::vector<FactorRow> rows;
        bool is_complete = false;  ///< the tree changed: these replace what was sent before
        bool is_nothing() const { return rows.empty() && !is_complete; }
    };

    /// The tree changed: the next rows are complete.
    void restart() { is_complete_ = true; }
    /// Those that changed since the last call. O(tree), and a row only for what changed. REQUIRES: since restart() the
    /// tree has got no more than new members, so that its ids stay.
    Rows changed(const ShareTree& tree, const Standings& standings, UserNames& users);

  private:
    std::vector<double> published_;  ///< by node: the factors that children have
    bool is_complete_ = true;
};

}  // namespace weir::priority
