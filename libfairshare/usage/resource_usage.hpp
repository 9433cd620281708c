// SPDX-License-Identifier: LGPL-3.0-only
// Owns: usage by resource, each with its own half-life, and their weighted sum when read. Must not know: what the
// resources are. Source: Grid Engine's halflife_decay_list and usage_weight_list.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libfairshare/usage/usage_ledger.hpp"

namespace weir {

struct DecayingResource {
    std::string name;
    /// As in UsageLedger, 0: no decay. None: only running jobs count (Grid Engine's -1).
    std::optional<Duration> half_life;
    double weight = 1.0;  ///< in the bill, 0 to 2^20; rounded to 2^-20
    friend bool operator==(const DecayingResource&, const DecayingResource&) = default;
};

/// Everything as plain numbers, one ledger for each resource.
struct ResourceUsageState {
    std::vector<DecayingResource> resources;
    std::vector<LedgerState> ledgers;
    friend bool operator==(const ResourceUsageState&, const ResourceUsageState&) = default;
};

class ResourceUsage {
  public:
    /// Errors: EINVAL for two resources of one name, a half-life or weight out of range.
    static Result<ResourceUsage> make(ShareTreePtr tree, std::vector<DecayingResource> resources);

    /// A job that holds amounts[i] of resource i. REQUIRES: an amount for each resource. O(depth * resources).
    void start(NodeId payer, std::span<const std::int64_t> amounts, Instant at);
    void end(NodeId payer, std::span<const std::int64_t> amounts, Instant started, Instant ended);

    /// One resource's, in its unit times microseconds. O(1).
    CoreMicros usage(std::size_t resource, NodeId node, Instant now) const;
    /// The bill of every node: the weighted sum, leaves rounded, accounts summed. O(nodes * resources).
    void snapshot(Instant now, std::vector<CoreMicros>& into) const;

    /// Another half-life for one resource: its usage at `at` stays. REQUIRES: half_life is accepted, and only running
    /// jobs did not count and will not. O(nodes).
    void set_half_life(std::size_t resource, Duration half_life, Instant at);
    std::span<const DecayingResource> resources() const { return resources_; }

    /// Another tree, as UsageLedger::rebind(). O(nodes * resources).
    void rebind(const ShareTreePtr& tree, Instant at);
    ResourceUsageState save() const;
    /// Errors: as make() and UsageLedger::restore(), with the resource's name; EINVAL where a resource has no ledger or
    /// one that decays otherwise.
    static Result<ResourceUsage> restore(const ShareTreePtr& tree, const ResourceUsageState& state);

  private:
    ResourceUsage(std::vector<DecayingResource> resources, std::vector<UsageLedger> ledgers);
    std::vector<DecayingResource> resources_;
    std::vector<UsageLedger> ledgers_;
    std::vector<std::int64_t> weights_;  // in units of 2^-20
};

}  // namespace weir
