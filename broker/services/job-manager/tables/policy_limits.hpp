// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the limits that a site sets on one job: its duration, and the nodes, cores and gpus that it asks for.
// Must not know: the queues that exist, flux_t.
// RFC 33; flux-config-policy(5): policy.limits, queues.NAME.policy.limits.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {

struct PolicyLimits {
    /// Of nodes, cores and gpus, in this order. -1: none, whatever the general limit is.
    using Sizes = std::array<std::optional<std::int64_t>, 3>;
    std::optional<double> duration_s;  ///< 0: none
    Sizes max, min;

    bool is_of_size() const { return max != Sizes{} || min != Sizes{}; }
};

/// \param table  what has the key `policy`: the configuration, or a table of [queues]
/// \param path   of the table, for errors: "" or "queues.NAME."
Result<PolicyLimits> read_limits(const json_t* table, const std::string& path);
/// A queue's own limits replace the general ones, each by itself.
PolicyLimits limits_of_queue(const PolicyLimits& general, const PolicyLimits& own);
/// A job without a duration asks for an unlimited one. Error: what is asked for, and the limit.
/// \param queue  for the error; empty: the anonymous one
Status check_duration(const PolicyLimits& limits, double duration_s, const std::string& queue);
Status check_size(const PolicyLimits& limits, const JobSize& size, const std::string& queue);

}  // namespace weir::broker::jobs
