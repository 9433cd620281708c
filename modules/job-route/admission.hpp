// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which jobs the plugin refuses at submission, since no partition of their queue takes them. Must not know Flux.
#pragma once
#include <jansson.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modules/job-route/partition_spec.hpp"

namespace weir::route {

class Admission {
  public:
    /// [[partition]] and [weir.users]. The module reports an invalid table, and this ignores it.
    void set_partitions(const json_t* array, const json_t* users);
    std::size_t partition_count() const { return partitions_.size(); }
    /// Queues that instances other than partitions may serve: what these take is unknown.
    void set_shared(std::set<std::string> queues) { shared_ = std::move(queues); }
    /// The sentence for the user; nothing: the job is accepted. \param is_account_final a job without an account gets
    /// none later. Otherwise rules about accounts are left out for it, and it waits if no partition takes it.
    std::optional<std::string> refusal(const JobFacts& job, std::uint32_t userid, bool is_account_final) const;

  private:
    std::set<std::string> shared_;
    std::vector<PartitionSpec> partitions_;
};

}  // namespace weir::route
