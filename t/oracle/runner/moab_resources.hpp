// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a job requests of a machine in Moab's and Maui's files, for processor-equivalents.
// Must not know what is made of it.
#pragma once
#include <optional>
#include <vector>

#include "libfairshare/usage/metric.hpp"
#include "t/oracle/runner/cases.hpp"

namespace weir::oracle {

struct RequestedResources {
    std::vector<HeldResource> held;
    double processors = 0;  ///< of the machine
};
/// Reads requests ("procs", "mem_mb", "disk", "swap"), totals ("total_procs", "mem_per_node_gb" with "nodes") and parts
/// ("mem_fraction", "procs_percent"), under any name that says so, also grouped ("requested", "total"). None where the
/// inputs say nothing of a machine.
std::optional<RequestedResources> requested_resources(const Case& one);

}  // namespace weir::oracle
