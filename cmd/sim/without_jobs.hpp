// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the queues and accounts that a policy names and no job of a log has, which is valid and most often a mistake.
// Must not know replays.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libsched/config/policy_settings.hpp"
#include "libsched/sim/log_names.hpp"

namespace weir::cmd {

/// Looks at the jobs of a log one by one.
class WithoutJobsCheck {
  public:
    /// `names`: what the policy calls the log's queues and accounts.
    explicit WithoutJobsCheck(LogNames names) : names_(std::move(names)) {}
    void add(const SimJob& job);
    /// A sentence for each table that the policy heeds and that has such names: [weir.queues], [weir.lsf.queues],
    /// [weir.moab.classes], [weir.moab.accounts]. O(names).
    std::vector<std::string> warnings(const PolicySettings& settings) const;

  private:
    /// What the jobs name.
    struct Seen {
        std::set<std::uint32_t> numbers;
        std::set<std::string> names;      ///< all that the configuration may have
        std::vector<std::string> listed;  ///< one of each; without number 0, which is none
    };
    LogNames names_;
    Seen queues_, accounts_;
    bool has_unnamed_queues_ = false;
};

}  // namespace weir::cmd
