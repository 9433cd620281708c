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
    /// Partitions run every job as the owner of the instance (the embedded broker). Otherwise they take his jobs alone.
    void set_runs_as_owner(bool does) { runs_as_owner_ = does; }
    bool runs_as_owner() const { return runs_as_owner_; }
    /// The sentence for the user; nothing: the job is accepted. A job without an account gets one later if it is not
    /// the owner's: rules about accounts are left out for it, and it waits if no partition takes it.
    std::optional<std::string> refusal(const JobFacts& job, std::uint32_t userid, bool is_owners) const;
    /// The same for a queue that this instance runs itself.
    std::optional<std::string> refusal_here(const std::string& queue, bool is_owners) const;

  private:
    bool runs_as_owner_ = false;
    std::set<std::string> shared_;
    std::vector<PartitionSpec> partitions_;
};

}  // namespace weir::route
