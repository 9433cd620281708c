// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what the manager reads in R: which ranks, hosts and cores, and the union of many R.
// Must not know: jobs, flux_t, what is allocated (that is the scheduler's). RFC 20 by libfairshare/base/json/r.hpp.
#pragma once
#include <map>
#include <string>

#include "broker/services/job-manager/state/job.hpp"
#include "libfairshare/base/json/r.hpp"

namespace weir::broker::jobs {

/// Facts of one R for lists. Nothing is known of an R that cannot be read.
ResourceFacts resource_facts(const json_t* r);
/// The three forms in which a job keeps its R.
Allocation allocation_of(Json r);

/// Adds up allocations and returns them as one R.
class ResourceUnion {
  public:
    /// Error: what in R cannot be read; the union is then unchanged.
    Status add(const json_t* r);
    Json to_r() const;

  private:
    struct Node {
        std::string host;
        IdSet cores;
        IdSet gpus;
    };
    std::map<std::uint32_t, Node> nodes_;  // by rank
};

}  // namespace weir::broker::jobs
