// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the message by which a parent sends its policy to a child instance: the [weir] table, the share tree's text,
// the machine's size; and how a child reads its own [weir] with it. Must not know: handles, what is in force.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libsched/config/engine_settings.hpp"
#include "modules/job-priority/settings.hpp"

namespace weir::priority {

struct ParentPolicy {
    Json table;                          ///< [weir] without the keys that are each instance's own
    std::vector<std::string> arguments;  ///< of the module, "key=value", without the same keys
    std::optional<MachineSize> machine;  ///< none: not known yet
    std::int64_t tree_revision = 0;      ///< in the topmost instance, which has the tree from no parent; 0: no tree
    std::optional<std::string> tree;     ///< its text; none: not for this child
};

/// The parts of a configuration that children get: without paths of files, the route, and `parent-factors`.
Json shared_table(const json_t* table);
std::vector<std::string> shared_arguments(const std::vector<std::string>& arguments);

/// Eight hexadecimal digits that name table, arguments and machine: equal policies have equal ones.
std::string settings_revision(const ParentPolicy& policy);

/// What a child is: a partition gets the tree and the users' names, too; an outsider is a guest's child of a private
/// instance, and gets nothing that names others.
enum class ChildKind { partition, other, outsider };
Json write_policy(const ParentPolicy& policy, ChildKind child);
/// Errors: EPROTO with what is wrong.
Result<ParentPolicy> read_policy(const json_t* message);

/// The settings of a child that follows `policy`: its table, with the child's own keys of its own table, then the
/// policy's arguments, then the child's.
Result<Settings> settings_below(const ParentPolicy& policy, const json_t* own,
                                const std::vector<std::string>& own_arguments);

}  // namespace weir::priority
