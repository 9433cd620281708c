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
    /// [[partition]] and [weir.users]. Of a table that makes no sense the module complains, and does not take it.
    void set_partitions(const json_t* array, const json_t* users);
    /// Queues that other instances than partitions may serve: nobody knows what these take.
    void set_shared(std::set<std::string> queues) { shared_ = std::move(queues); }
    /// The sentence for the user; nothing: the job may come in. \param is_account_final a job without an account gets
    /// none later. Such rules are left out otherwise, and the job waits where it is not taken.
    std::optional<std::string> refusal(const JobFacts& job, std::uint32_t userid, bool is_account_final) const;

  private:
    std::set<std::string> shared_;
    std::vector<PartitionSpec> partitions_;
};

}  // namespace weir::route
