// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the facts of a state file that stand alone, as texts by name. Must not know SQLite.
#pragma once
#include <map>
#include <string>

#include "modules/job-priority/state/state_rows.hpp"

namespace weir::priority {

std::map<std::string, std::string> meta_texts(const StateMeta& meta);
/// Takes one into `saved`, and the facts of the ledger's checkpoint, whose names are "half_life_us", "frame" and
/// "since_us". An unknown name is passed over.
void set_meta(SavedState& saved, const std::string& key, const std::string& value);

}  // namespace weir::priority
