// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the metrics of an instance: which services are asked, and the names, units and meanings of what they answer.
#pragma once
#include <cstdint>
#include <string>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct MetricsOptions {
    std::int64_t depth = 2;   ///< levels of the share tree
    bool with_users = false;  ///< a series for each user: many
};
/// Of a private instance: sums over all users of the accounts on top, of queues and of partitions.
inline constexpr MetricsOptions private_metrics{1, false};

/// OpenMetrics text. A module that does not answer has weir_up 0 and no other series; that is no error.
std::string instance_metrics(Client& client, const MetricsOptions& options);

}  // namespace weir::cmd
