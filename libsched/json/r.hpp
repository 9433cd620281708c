// SPDX-License-Identifier: LGPL-3.0-only
// Owns: R version 1 (RFC 20), the document that says which resources a job holds or an instance has, to and from
// values. Memory, which R_lite does not have, stands in the scheduler's own part, by host name or, where names are not
// unique, by rank: "scheduling": {"weir": {"memory_mib": [{"hosts": "n[0-3]", "value": 65536}]}} (ADR 0125). Other keys
// are not kept.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/json/json.hpp"
#include "libsched/resource/resource_set.hpp"

namespace weir {

struct R {
    ResourceSet resources;
    std::vector<std::string> hosts;                         ///< of resources.nodes, in the same order; may be empty
    double starttime = 0.;                                  ///< seconds since the epoch; 0: not given
    double expiration = 0.;                                 ///< seconds since the epoch; 0: none
    std::vector<std::pair<std::string, IdSet>> properties;  ///< name and ranks
    friend bool operator==(const R&, const R&) = default;
};

/// Errors name the path: "R: execution.R_lite[0].rank: ...". At most 2^20 nodes.
Result<R> decode_r(json_t* document);
Result<R> decode_r(std::string_view text);
/// Ranks with equal children share an entry. decode_r(encode_r(r)) == r.
Json encode_r(const R& r);

}  // namespace weir
