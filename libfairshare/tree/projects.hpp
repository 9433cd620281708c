// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which projects a job may name, from the lines of its association and of the accounts above it. Must not know:
// jobs, who enforces it. Source: doc/adr/0086-what-a-node-may-have.md.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"

namespace weir {

struct ProjectAccess {
    std::vector<std::string> names;  ///< in the order of the text; no_project: a job may have none
    std::string by_default;          ///< one of `names`
    friend auto operator<=>(const ProjectAccess&, const ProjectAccess&) = default;
};

/// Of the nearest line with `projects`, at the node or above it; the default is the nearest `default_project` up to
/// that line, else the list's first. Nothing where no line has a list: any project. O(depth).
std::optional<ProjectAccess> project_access(const ShareTree& tree, NodeId node);
/// Whether any line has a list. O(terms).
bool has_projects(const ShareTree& tree);

}  // namespace weir
