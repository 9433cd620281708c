// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the keys of [weir] for the order of the queue, in one table: name, the policies that use it, its values. Must
// not know: where the JSON comes from, how the values are used.
#pragma once
#include <string>
#include <string_view>

#include "libsched/config/policy_settings.hpp"
#include "libsched/config/reader.hpp"

namespace weir::config {

/// Reads one key of [weir] into `settings`; false if it is not a key of a policy.
bool read_policy_key(Reader& reader, const std::string& key, const json_t* value, PolicySettings& settings);
/// Called after the last key: sets defaults that depend on the policy.
void finish_policy(PolicySettings& settings);
/// "policy, algorithm, ...": for messages.
std::string policy_key_names();
/// Whether `policy` uses this key of [weir]; true for a key that belongs to no policy.
bool heeds(PolicyKind policy, std::string_view key);
/// The policies that use it: "multifactor, moab".
std::string heeding(std::string_view key);

}  // namespace weir::config
