// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the whole [weir] table of a configuration, checked and with defaults: the policy, and the settings of an
// instance. A mistyped key would silently mean its default, so unknown keys are errors. Must not know: where the table
// comes from (TOML, module arguments), the share tree's text.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/config/policy_settings.hpp"
#include "libsched/config/reader.hpp"

namespace weir::config {

/// The value that is sent to the job-manager as a job's priority.
enum class PushRule : std::uint8_t {
    numbers,  ///< each priority that changed
    order,    ///< values that only sort the jobs; as few as possible change
    head,     ///< values that sort the first jobs of the queue; the others keep their first number
};

/// Everything has a default, so that an instance without [weir] works.
struct Settings : PolicySettings {
    std::string share_tree;            ///< file, relative to the configuration's folder where the site named it
    bool is_share_tree_named = false;  ///< the site named the file; else it is shares.toml beside that folder
    std::string state;                 ///< file; empty: statedir/job-priority.sqlite, else in memory
    std::string plugin;                ///< job-priority-tap.so to load when it is missing; empty: never
    bool is_enforced = true;
    bool takes_parent_factors = true;
    PushRule push = PushRule::head;
    std::uint32_t head_depth = 0;     ///< with PushRule::head: jobs of each queue; 0: as the scheduler looks at
    std::optional<double> push_rate;  ///< values a second that are sent for display alone; none: the rule's default
    double push_error = 0;            ///< the error in priority units that the order may have; with PushRule::order
    std::map<std::string, std::uint32_t> users;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// Reads a [weir] table (nullptr: all defaults) and then arguments "key=value", where weights are "weights.wait=1".
/// Unknown keys and bad values are errors that name the key, the value and what is right; all are reported, one line
/// each, after their position where it is known.
Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments,
                               const KeyPlace& place = {});

/// [weir] of a document in TOML. Errors: as above, and "NAME:LINE:COLUMN: what" of a text that is no TOML. Other tables
/// are ignored.
Result<Settings> read_settings_toml(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& arguments = {});

}  // namespace weir::config
