// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the difference between two trees: the list of changes for people, and the mapping of ids for the ledger.
// Must not know: usage, text formats.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"

namespace weir {

/// For every node of the old tree its id in the new one, or `unassociated` if it is gone. Nodes match by path first;
/// then by name below a matched node; then an account or user that vanished in one place and appeared with the same
/// name in exactly one other has moved. O(n log n).
std::vector<NodeId> match_nodes(const ShareTree& from, const ShareTree& to);

/// `changed`: neither place nor shares, but other fields.
enum class ChangeKind : std::uint8_t { added, removed, moved, reshared, changed };
/// "add", "remove", "move", "share", "change": as in the wire format and the command's output.
std::string_view to_string(ChangeKind kind);

/// A field beside shares (limits, targets, shares in partitions, default, …) as text has it; empty: not there.
/// `default` is "first line" where the line becomes, or no longer is, that of the user's default account without a
/// mark.
struct FieldChange {
    std::string field;
    std::string from;
    std::string to;
    friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

struct TreeChange {
    ChangeKind kind;
    std::string path;       ///< in the new tree; of a removed node in the old
    std::string from_path;  ///< of a moved node, else empty
    std::uint32_t shares_from = 0;
    std::uint32_t shares_to = 0;
    double entitled_from = 0;  ///< of the machine
    double entitled_to = 0;
    std::vector<FieldChange> fields;  ///< those that differ, also a change from or to `parent` shares
};
/// Whether the node itself is the same, and is now, or no longer, the first line of its user.
bool is_of_order(const TreeChange& change);

/// Another order of lines is no change, unless it gives a user another default account. Removed nodes first (old
/// order), then the rest in the new tree's order. A child that came along with its moved parent is not listed. A moved
/// node whose shares or fields changed too is listed once, as moved, with both.
std::vector<TreeChange> diff_trees(const ShareTree& from, const ShareTree& to);

}  // namespace weir
