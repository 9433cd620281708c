// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the readers of the tables that have a file of their own. Must not know which policies use them.
#pragma once
#include "libsched/config/policy_settings.hpp"
#include "libsched/config/reader.hpp"

namespace weir::config {

void read_lsf(Reader& reader, const json_t* value, PolicySettings& settings);
void read_moab(Reader& reader, const json_t* value, PolicySettings& settings);

}  // namespace weir::config
