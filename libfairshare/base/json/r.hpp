// SPDX-License-Identifier: LGPL-3.0-only
// Owns: R version 1 (RFC 20), the document of the resources of a job or an instance, to and from values. R_lite has no
// memory, so memory is in the scheduler's own part, by host name or, where names are not unique, by rank: "scheduling":
// {"weir": {"memory_mib": [{"hosts": "n[0-3]", "value": 65536}]}}. Other keys are not kept.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/resource_set.hpp"

namespace weir {

using NodeProperties = std::vector<std::pair<std::string, IdSet>>;  ///< name and ranks

struct R {
    ResourceSet resources;
    std::vector<std::string> hosts;  ///< of resources.nodes, in the same order; may be empty
    double starttime = 0.;           ///< seconds since the epoch; 0: not given
    double expiration = 0.;          ///< seconds since the epoch; 0: none
    NodeProperties properties;
    friend bool operator==(const R&, const R&) = default;
};

inline constexpr std::uint64_t r_nodes_max = 1U << 20;

/// Errors name the path: "R: execution.R_lite[0].rank: ...". At most 2^20 nodes, 2^20 cores and gpus on one, 2^22
/// ranges of them in all, and no more host names than nodes: memory and time are bounded for any sender.
/// \param nodes_max  a lower bound than 2^20, if the caller knows the sender to have fewer nodes; the sizes of memory
/// name no more hosts than this, in all
Result<R> decode_r(json_t* document, std::uint64_t nodes_max = r_nodes_max);
Result<R> decode_r(std::string_view text, std::uint64_t nodes_max = r_nodes_max);
/// The memory of the nodes from the scheduler's part of R, which is also a file of its own:
/// {"weir": {"memory_mib": [...]}}. What else the part has is ignored. Errors name the path; `r` is unchanged then.
Status decode_memory(json_t* scheduling, R& r);
/// Of the properties, those of these nodes, with the ranks of these alone. O(nodes x properties).
NodeProperties properties_of(const ResourceSet& nodes, const NodeProperties& all);
/// Ranks with equal children share an entry. decode_r(encode_r(r)) == r.
Json encode_r(const R& r);

}  // namespace weir
