// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rules that a list of nodes must meet to be a share tree, and the report of all that it breaks.
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
    /// Shares are `parent`; `shares` is then without meaning.
    bool shares_parent = false;
    /// Of a user's lines the one that pays where a job names no account.
    bool is_default = false;
    /// On an `@*` line: all others share it instead of each having its shares.
    bool is_together = false;
    /// In any order.
    std::vector<NodeTerm> terms = {};
};

using ShareTreeOrDiagnostics = std::variant<ShareTree, Diagnostics>;

/// Builds the tree or tells everything that is wrong: unknown parent (with the nearest name), duplicate, cycle (as
/// a -> b -> a), shares out of range, node below a user, empty component, bad character, too deep, two
/// defaults of a user, two terms of one kind. A node whose parent
/// is faulty is not reported again. Specs may come in any order; children keep it. O(n log n).
ShareTreeOrDiagnostics build_share_tree(const std::vector<NodeSpec>& specs, std::string_view file = {});

/// Why `component` ("lattice", "@alice", "@*", "group:staff") cannot name a node; empty where it can.
std::string component_error(std::string_view component);

}  // namespace weir
