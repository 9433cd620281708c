// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whether new jobs get first values (first_values.hpp), and their computation from the ranking.
// Must not know: the plugin, which events bring new jobs.
#pragma once
#include <cstdint>

#include "modules/job-priority/gate/gate.hpp"
#include "modules/job-priority/ranking/first_values.hpp"
#include "modules/job-priority/ranking/ranking.hpp"

namespace weir::priority {

class FirstValueFeed {
  public:
    /// All outlive this.
    FirstValueFeed(const Settings& settings, Ranking& ranking, const Gate& gate)
        : settings_(settings), ranking_(ranking), gate_(gate) {}

    /// A new job of the ranking: notes the first value that the plugin gave it, and learns its kind for the next job.
    void meet(const BookJob& job);
    /// After a pass: the values follow the factors. O(kinds) if these changed.
    void renew();
    FirstValues& values() { return values_; }

  private:
    /// Whether the plugin may give a new job the number of its kind before the module sees the job.
    bool is_possible() const;

    const Settings& settings_;
    Ranking& ranking_;
    const Gate& gate_;
    FirstValues values_;
    std::uint64_t evaluation_ = 0;  ///< that the values were computed from
};

}  // namespace weir::priority
