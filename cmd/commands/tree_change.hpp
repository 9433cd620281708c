// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the way of every change of the share tree: what would go is asked about, the change is sent with the revision
// that it was made from, its effect or another's change is shown. Must not know how the change was made.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"
#include "cmd/common/client.hpp"

namespace weir::cmd {

struct TreeChangeRequest {
    std::string toml;                         ///< may begin with its revision's line, as exported
    std::optional<std::int64_t> to_revision;  ///< the text of this one instead
    std::optional<std::int64_t> base;         ///< the revision that it was made from, where the text does not say
    std::string reason;                       ///< for the history
    bool allows_empty = false;
    bool asks = false;  ///< whether nodes that have usage or jobs go only with --yes or a person's yes
};

/// --dry-run, --message: what set_tree() reads of every change.
const std::vector<Option>& tree_change_options();
/// --yes, for those that ask.
Option yes_option();

/// Sends it to job-priority. Errors: ESTALE where the tree is not at the base any more.
Result<Json> send_tree(Client& client, const TreeChangeRequest& request, bool is_dry_run);
/// Asks, sends and tells what it did. Exit codes: 6 where the tree has changed since, with the other's change; 7 for a
/// tree that does not hold; 1 where nodes with usage or jobs would go and nobody said yes.
Exit put_in_force(Context& context, Client& client, TreeChangeRequest request);

/// What put_in_force() prints of an answer.
Exit tell_change(const Context& context, const Json& answer, bool is_dry_run);
/// Exit code 6: the error, and what was changed from `base` on.
Exit tell_stale(const Context& context, Client& client, const Error& error, std::int64_t base);
/// A table of changes, a line a node; empty where there are none.
std::string changes_text(const json_t* answer, const Screen& screen);
/// A line a revision: "revision 8 by bob, 12:00: new grant".
std::string revisions_text(const json_t* answer);

}  // namespace weir::cmd
