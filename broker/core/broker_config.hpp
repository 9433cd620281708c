// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the configuration keys that the broker itself reads: [weir-broker], [access], [clock]. Must not know other
// keys. Source: flux-config-access(5); doc/configuration.md.
#pragma once
#include <optional>
#include <vector>

#include "broker/core/local_listener.hpp"
#include "broker/core/module_host.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct BrokerConfig {
    std::vector<LoadRequest> modules;    // [weir-broker] modules; default kvs, resource, job-manager, job-exec
    LocalListener::Policy access;        // [access] allow-guest-user, allow-root-owner
    std::optional<double> clock_scale;   // [clock] scale, > 0
    std::optional<double> clock_origin;  // [clock] origin, seconds since the epoch
};

/// \return an error that names the key and what it may be.
Result<BrokerConfig> read_broker_config(const Json& config);

}  // namespace weir::broker
