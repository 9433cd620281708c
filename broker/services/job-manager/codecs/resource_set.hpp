// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the little that the manager reads in R: which ranks, hosts and cores, and the union of many R.
// Must not know: jobs, flux_t, what is allocated (that is the scheduler's).
// RFC 20 (R version 1), RFC 22 (idsets), RFC 29 (hostlists).
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

/// "0-3,7" or "[0-3,7]". Error: the text and the place.
Result<std::set<unsigned>> parse_idset(std::string_view text);
/// "0-3,7", without brackets.
std::string idset_text(const std::set<unsigned>& ids);
/// "node[0-3],login" to names, zero padding kept. At most one bracket a name. Error: the text.
Result<std::vector<std::string>> parse_hostlist(std::string_view text);
/// Runs of names with a common prefix and width folded again.
std::string hostlist_text(const std::vector<std::string>& hosts);

/// Facts of one R for lists. Whatever cannot be read stays unknown.
ResourceFacts resource_facts(const json_t* r);
/// The three forms in which a job keeps its R.
Allocation allocation_of(Json r);

/// Adds up allocations and gives them back as one R.
class ResourceUnion {
  public:
    /// Error: what in R cannot be read; the union is then unchanged.
    Status add(const json_t* r);
    Json to_r() const;

  private:
    struct Node {
        std::string host;
        std::map<std::string, std::set<unsigned>> children;  // "core" -> ids
    };
    std::map<unsigned, Node> nodes_;
};

}  // namespace weir::broker::jobs
