// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the whole [weir] table of a configuration, checked, with defaults: the policy, and what an instance needs
// besides. Must not know: where it comes from (TOML, module arguments), the share tree's text. doc/adr/0063, 0115.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/config/reader.hpp"

namespace weir::config {

/// What the job-manager is sent as a job's priority.
enum class PushRule : std::uint8_t {
    numbers,  ///< each priority that changed
    order,    ///< values that stand for places: only what the order needs
};

/// Everything has a default, so that an instance without [weir] works.
struct Settings : PolicySettings {
    std::string share_tree = "shares.toml";  ///< file, relative to the configuration's directory
    bool is_share_tree_named = false;        ///< the file was asked for: its absence is worth a warning
    std::string state;                       ///< file; empty: statedir/job-priority.sqlite, else in memory
    std::string plugin;                      ///< job-priority-tap.so to load when it is missing; empty: never
    bool is_enforced = true;
    bool takes_parent_factors = true;
    PushRule push = PushRule::numbers;
    double push_error = 0;  ///< priority units by which the order sent may be wrong; with PushRule::order
    std::map<std::string, std::uint32_t> users;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// Reads a [weir] table (nullptr: all defaults) and then arguments "key=value", where weights are "weights.wait=1".
/// Unknown keys and bad values are errors that name the key, the value and what is right; all are reported, one a line,
/// each behind its place where that is known.
Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments,
                               const KeyPlace& place = {});

/// [weir] of a document in TOML. Errors: as above, and "NAME:LINE:COLUMN: what" of a text that is no TOML. Tables
/// beside [weir] are others' business.
Result<Settings> read_settings_toml(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& arguments = {});

}  // namespace weir::config
