// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what can be known to be wrong with a partition before its instance starts, beyond what its table alone shows.
// Must not know: jobs, requests, the machine's size.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "modules/job-route/partition_launch.hpp"
#include "modules/job-route/partition_spec.hpp"

namespace weir::route {

/// The folders in which a partition's broker finds modules. A stock Flux has them all in FLUX_MODULE_PATH, which the
/// command flux sets; empty where it is not set.
std::vector<std::string> module_folders(const LaunchPlace& place);

/// Checks the [weir] table of each partition's own `config`, and that the module of its scheduler exists. Error:
/// "[partition NAME] key: what is wrong and what would be right", a line each.
Status check_instances(const std::vector<PartitionSpec>& specs, const LaunchPlace& place);

}  // namespace weir::route
