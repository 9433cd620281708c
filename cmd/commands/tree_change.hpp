// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the steps of every change of the share tree: ask before nodes with usage or jobs are removed, send the change
// with its base revision, show its effect or a concurrent change. Must not know how the change was made.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"
#include "cmd/common/client.hpp"

namespace weir::cmd {

struct TreeChangeRequest {
    std::string toml;                         ///< may begin with the line of its revision, as exported
    std::optional<std::int64_t> to_revision;  ///< restore the text of this revision instead
    std::optional<std::int64_t> base;         ///< the base revision, if the text does not have it
    std::string reason;                       ///< for the history
    bool allows_empty = false;
    bool asks = false;  ///< whether the removal of nodes with usage or jobs needs --yes or a confirmation
};

/// --dry-run, --message: what set_tree() reads of every change.
const std::vector<Option>& tree_change_options();
/// --yes, for those that ask.
Option yes_option();

/// Sends it to job-priority. Errors: ESTALE if the base is not the newest revision.
Result<Json> send_tree(Client& client, const TreeChangeRequest& request, bool is_dry_run);
/// Asks first if the request does, and sends it. Errors: those of send_tree(), and ECANCELED with the nodes with usage
/// or jobs that would be removed, if nobody confirmed it.
Result<Json> send_confirmed(const Context& context, Client& client, TreeChangeRequest request);
/// Asks, sends and reports the change. Exit codes: 6 if the tree has changed since, with the other change; 7 for an
/// invalid tree; 1 if nodes with usage or jobs would be removed without a confirmation.
Exit put_in_force(Context& context, Client& client, TreeChangeRequest request);

/// What put_in_force() prints of an answer.
Exit print_change(const Context& context, const Json& answer, bool is_dry_run);
/// Exit code 6: prints the error, and the changes since `base`.
Exit print_stale(const Context& context, Client& client, const Error& error, std::int64_t base);
/// A table of changes, one line for each node; empty if there are none.
std::string changes_text(const json_t* answer, const Screen& screen);
/// One line for each revision: "revision 8 by bob, 12:00: new grant".
std::string revisions_text(const json_t* answer);

}  // namespace weir::cmd
