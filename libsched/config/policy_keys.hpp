// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir] that say how the queue is ordered: name, which policies heed it, what it takes. One table.
// Must not know: where the JSON comes from, what the values are for.
#pragma once
#include <string>
#include <string_view>

#include "libsched/config/policy_settings.hpp"
#include "libsched/config/reader.hpp"

namespace weir::config {

/// Takes one key of [weir] into `settings`; false if it is no policy's key.
bool read_policy_key(Reader& reader, const std::string& key, const json_t* value, PolicySettings& settings);
/// What goes for the keys together, after the last one: defaults that depend on the policy.
void finish_policy(PolicySettings& settings);
/// "policy, algorithm, ...": for messages.
std::string policy_key_names();
/// Whether `policy` heeds this key of [weir]; true for a key that is no policy's.
bool heeds(PolicyKind policy, std::string_view key);
/// The policies that do: "multifactor, moab".
std::string heeding(std::string_view key);

}  // namespace weir::config
