// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the sources of an instance's resources: its configuration, its parent, or this machine. Must not know how they
// are used. The one place that includes hwloc is behind `machine_inventory`.
// Source: flux-config-resource(5).
#pragma once
#include <string>

#include "broker/services/resource_inventory.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// True if the [resource] table names resources.
bool is_configured(const Json& table);
/// [[resource.config]] hosts, cores, gpus, properties; or [resource.imagined] nodes, cores, gpus, hostlist; or
/// [resource] path, a file with R. [resource] scheduling, a file, adds memory, which R has not. \return an error that
/// names the key.
Result<Inventory> configured_inventory(const Json& table);

/// The allocation of job `jobid` (any text form) at the parent; nodes, cores and GPUs are numbered from 0.
Result<Inventory> parent_inventory(const std::string& uri, const std::string& jobid);

/// One node: this machine's cores and GPUs, restricted to where this process may run, and its memory.
Result<Inventory> machine_inventory(const std::string& host);

}  // namespace weir::broker
