// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what is changed in a jobspec on its way into a child. Must not know who sends it. Source: RFC 14 (jobspec).
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/marks.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-route/messages.hpp"
#include "modules/job-route/resource_map.hpp"

namespace weir::route {

/// attributes.system.weir becomes {jobid, userid, queue?, output?, submit?}, where queue is the one that the user
/// submitted to, output the name of the files with its output there, and submit the time, in seconds. What the job
/// requests there stays, and so does default_bank, the account that the parent filled in. The job's own
/// queue is removed unless the child has one of that name. Dependencies are removed: the parent has waited for them,
/// and their ids mean nothing in the child. So is alloc-bypass: it counts of the owner alone, who submits the copy of
/// another user's job. \return JSON text. Errors: not JSON, or no attributes.system.
Result<std::string> localize(const Order& submit, const std::set<std::string>& own_queues);

/// The jobspec with these names of the job's id, such as "id.dec", filled in in the names of the files for its standard
/// output and error, which people look for by the parent's id. \return JSON text. Errors: as localize().
Result<std::string> with_output_names(const std::string& jobspec, const Marks& marks);

/// The jobspec with the ranks of its constraints as the child numbers them: none for nodes that it does not have. As it
/// is where it names no ranks, where the child's are not known, and where it is malformed, which the child says.
std::string with_ranks(const std::string& jobspec, const ResourceMap& resources);

bool has_environment(const std::string& jobspec);
/// The jobspec with the environment that J, the jobspec as it was signed, has. Stock Flux keeps it nowhere else.
/// Errors: J is malformed; the jobspec is, where J has an environment.
Result<std::string> with_environment(const std::string& jobspec, const std::string& J);

}  // namespace weir::route
