// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the [weir] table of the instance's configuration as far as job-priority reads it, checked, with defaults.
// Must not know: where it comes from (TOML, module arguments), the share tree's text. Keys: doc/adr/0063, README.md.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/base/time.hpp"
#include "libsched/priority/ageing.hpp"

namespace weir::priority {

/// The six weights of the sum.
struct Weights {
    double wait = 1000;
    double fairshare = 10000;
    double qos = 1000;
    double queue = 1000;
    double size = 500;
    double user = 1000;
    friend bool operator==(const Weights&, const Weights&) = default;
};

/// Everything has a default, so that an instance without [weir] works.
struct Settings {
    std::string share_tree = "shares.toml";  ///< file, relative to the configuration's directory
    bool is_share_tree_named = false;        ///< the file was asked for: its absence is worth a warning
    std::string state;                       ///< file; empty: statedir/job-priority.sqlite, else in memory
    std::string plugin;                      ///< job-priority-tap.so to load when it is missing; empty: never
    Duration half_life = std::chrono::hours(24 * 7);
    Duration update_interval = std::chrono::seconds(30);
    Duration wait_max = std::chrono::hours(24 * 7);
    std::string algorithm = "fair-tree";
    bool is_large_favored = true;
    AgeRule ageing = AgeRule::while_eligible;
    std::set<std::string> raw_factors;  ///< of "qos", "queue": those that are not normalised
    bool only_raises = false;           ///< a pass lowers no job
    bool is_enforced = true;
    bool takes_parent_factors = true;
    Weights weights;
    std::map<std::string, double> qos;     ///< name to priority
    std::map<std::string, double> queues;  ///< name to priority
    std::map<std::string, std::uint32_t> users;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// Reads a [weir] table (nullptr: all defaults) and then module arguments "key=value", where weights are
/// "weights.wait=1". Unknown keys and bad values are errors that name the key, the value and what is right; all
/// are reported, one a line.
Result<Settings> read_settings(const json_t* table, const std::vector<std::string>& arguments);

}  // namespace weir::priority
