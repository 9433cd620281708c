// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's dependencies, as Flux describes them, in words. Must not send requests.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {

/// Of descriptions like "after-success=f2X", "begin-time=1795304000.000" or "singleton" an answer in the form of
/// sched.why's: {reason, text, dependencies, not_before?}; the reason is "begin-time" where nothing else is
/// waited for, else "dependencies". Descriptions that are not known stand as they are. Nothing for no descriptions: a
/// null Json.
Json dependency_reason(const std::vector<std::string>& descriptions);

}  // namespace weir::cmd
