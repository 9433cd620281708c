// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rules for a list of nodes to be a share tree, and the report of every rule that it breaks.
// Must not know: text formats (they make NodeSpecs), usage, algorithms.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libfairshare/tree/diagnostics.hpp"
#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// One line of a share tree.
struct NodeSpec {
    /// A full path ("physics/lattice/@alice"; "physics/@alice:debug" for one partition), or with `parent` a single
    /// component ("lattice", "@alice").
    std::string name;
    /// Full path of the parent or, where unique, its last component.
    std::optional<std::string> parent;
    /// 0 to ShareTree::shares_max; anything else is reported.
    std::int64_t shares = 1;
    SourcePosition position;
    /// Shares are `parent`; `shares` is then ignored.
    bool shares_parent = false;
    /// Marks the line of a user that is charged for jobs without an account.
    bool is_default = false;
    /// On an `@*` line: all other users together have its shares, instead of each one.
    bool is_together = false;
    /// In any order.
    std::vector<NodeTerm> terms = {};
};

using ShareTreeOrDiagnostics = std::variant<ShareTree, Diagnostics>;

/// Builds the tree or reports every error: unknown parent (with the nearest name), duplicate, cycle (as a -> b -> a),
/// shares out of range, node below a user, empty component, bad character, too deep, two defaults of a user, two terms
/// of one kind. A node whose parent is faulty is not reported again. Specs may come in any order; children keep it. O(n
/// log n).
ShareTreeOrDiagnostics build_share_tree(const std::vector<NodeSpec>& specs, std::string_view file = {});

/// Why `component` ("lattice", "@alice", "@*", "group:staff") cannot name a node; empty where it can.
std::string component_error(std::string_view component);

}  // namespace weir
