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

    /// A new job of the ranking: what the plugin gave it, and what it is to give the next one of its kind.
    void meet(const BookJob& job);
    /// After a pass: the values follow the factors. O(kinds) where these are new.
    void renew();
    FirstValues& values() { return values_; }

  private:
    /// Whether the plugin may give a new job the number of its kind, before it is known here.
    bool is_possible() const;

    const Settings& settings_;
    Ranking& ranking_;
    const Gate& gate_;
    FirstValues values_;
    std::uint64_t evaluation_ = 0;  ///< that the values were computed from
};

}  // namespace weir::priority
