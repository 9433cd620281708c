// SPDX-License-Identifier: LGPL-3.0-only
// Owns: showing a child job's resources as the parent knows them. The child numbers its nodes and cores from zero; its
// n-th node is the n-th node of its own allocation at the parent, its n-th core there the n-th allocated core.
// Must not know jobs. Source: RFC 20.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::route {

/// \param job_R R of the job, in the child's numbers. JSON text, like all three.
/// \param child_R everything the child has, in the child's numbers.
/// \param allocation R of the child instance's own job, in the parent's numbers.
/// \return R with the parent's ranks, cores, gpus and hosts, with job_R's start and expiration. job_R itself when the
/// child
///         and its allocation differ in shape (another number of nodes, or of cores on one).
/// Errors: job_R is not R.
Result<std::string> map_resources(const std::string& job_R, const std::string& child_R, const std::string& allocation);

}  // namespace weir::route
