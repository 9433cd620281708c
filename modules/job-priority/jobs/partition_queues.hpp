// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which queues share resources, as far as the [[partition]] tables say it.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weir::priority {

/// The queues of the configured partitions. The jobs of a queue without a partition are scheduled by the instance.
class PartitionQueues {
  public:
    using Names = std::vector<std::string>;

    PartitionQueues() = default;
    /// \param served  the queues of each partition
    explicit PartitionQueues(std::vector<Names> served) : served_(std::move(served)) {}

    /// Whether a job of one queue may take resources that a job of the other waits for: one partition serves both, or
    /// none serves either. A partition that lends cores to another queue (`overflow`) delays neither.
    bool do_compete(const std::string& a, const std::string& b) const {
        const auto serves = [](const Names& names, const std::string& queue) {
            return std::find(names.begin(), names.end(), queue) != names.end();
        };
        const auto is_in_both = [&](const Names& names) { return serves(names, a) && serves(names, b); };
        const auto is_in_one = [&](const Names& names) { return serves(names, a) || serves(names, b); };
        return a == b || std::any_of(served_.begin(), served_.end(), is_in_both) ||
               std::none_of(served_.begin(), served_.end(), is_in_one);
    }

  private:
    std::vector<Names> served_;
};

}  // namespace weir::priority
