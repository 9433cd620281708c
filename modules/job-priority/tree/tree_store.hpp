// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the share tree's revisions: the text in force, its author and reason, and whether a new text may replace it.
// Must not know: usage, files, SQLite. A bad text changes nothing.
#pragma once
#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libfairshare/tree/share_tree_diff.hpp"
#include "libfairshare/usage/usage_ledger.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {

/// A request to replace the tree.
struct TreeEdit {
    std::string toml;  ///< may begin with the line that an export carries: its revision is the base if none is set
    std::string author;
    std::string reason;
    std::optional<std::int64_t> base_revision;  ///< refuse unless this is the one in force
    bool allows_empty = false;                  ///< may remove all nodes of a tree
};

/// What no text has: the users who are members by `@*` lines.
struct TreeMembers {
    const ShareTree& in_force;  ///< the tree in force, with its members
    /// The tree of a text, with those that it would have if it were put in force now.
    std::function<ShareTree(const ShareTree& lines)> added_to;
};

/// A tree that passed all checks: its changes and the new revision.
struct TreeProposal {
    ShareTreePtr lines;     ///< the tree of the text, without members; null where nothing changes
    ShareTreePtr tree;      ///< with its members, as it will be in force; null likewise
    TreeRevision revision;  ///< the one in force where nothing changes
    std::vector<TreeChange> changes;
    bool is_new = true;  ///< false: the text is the one in force
};

/// The error of an edit whose base is not in force any more.
inline constexpr auto stale_revision = static_cast<std::errc>(ESTALE);

class TreeStore {
  public:
    /// The author of revisions that were read from the share-tree file.
    static constexpr const char* file_author = "file";
    /// Of the reason of an edit: each listing of the tree ends with it, and each viewer of the page gets it.
    static constexpr std::size_t reason_bytes_max = 500;

    explicit TreeStore(StateLog& log);
    /// The newest revision that still parses is in force. Returns warnings. REQUIRES: the log is restored.
    std::vector<std::string> restore(const SavedState& saved);

    /// Checks an edit against the tree in force. Without a tree no base is required. Errors: EINVAL with every mistake,
    /// one a line, as "file:line:column: ...", and for a tree that would lose all nodes unasked; EMSGSIZE for a reason
    /// that is too long; ESTALE when the base is stale.
    Result<TreeProposal> propose(const TreeMembers& members, const TreeEdit& edit, const std::string& file,
                                 Instant now) const;

    /// The share-tree file's text at start or on reload: a proposal if it differs from the text in force and from the
    /// last text that the file had; nothing if it is one of these (edits made since by the command stay in force);
    /// else its mistakes. Notes a text that is the one in force as the last that the file had.
    Result<std::optional<TreeProposal>> propose_file(const TreeMembers& members, const std::string& text,
                                                     const std::string& file, Instant now);

    /// What changed from revision `a` to `b` (none: the one in force; `a` 0: from an empty tree), if each had the
    /// members of today. So entitlements are those of the change itself, not of an account without its members. Errors:
    /// ENOENT for a revision that never existed, EINVAL for a text that no longer parses.
    Result<std::vector<TreeChange>> changes_between(const TreeMembers& members, std::int64_t a,
                                                    std::optional<std::int64_t> b) const;
    /// The text of a revision. Errors: ENOENT.
    Result<std::string> text_of(std::int64_t revision) const;

    /// The trees before that revision, each with the time at which the next one replaced it: at most `most`, the oldest
    /// first, and none before one whose text no longer parses. O(their size).
    std::vector<std::pair<ShareTree, Instant>> before(const TreeMembers& members, std::int64_t revision,
                                                      std::size_t most) const;

    /// Makes the proposal the newest revision. REQUIRES: is_new.
    void accept(const TreeProposal& proposal);

    /// The parsed text in force, without members; the bare root when there is none.
    const ShareTreePtr& tree() const { return tree_; }
    /// Revision 0 with an empty text when there is none.
    const TreeRevision& in_force() const { return in_force_; }
    const std::vector<TreeRevision>& history() const { return history_; }

    /// The current error of the share-tree file; empty if there is none.
    const std::string& problem() const { return problem_; }
    void set_problem(std::string problem) { problem_ = std::move(problem); }

  private:
    Error stale(std::int64_t base) const;

    StateLog& log_;
    ShareTreePtr tree_;
    TreeRevision in_force_;
    std::vector<TreeRevision> history_;
    std::string problem_;
};

}  // namespace weir::priority
