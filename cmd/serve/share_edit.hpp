// SPDX-License-Identifier: LGPL-3.0-only
// Owns: changes of the share tree that come from the page: one node's shares, or a step back. Must not know HTTP, nor
// who may change it: that is checked before.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct ShareEdit {
    std::string path;  ///< of the node
    std::int64_t shares = 0;
    bool is_undo = false;   ///< back to the revision before; `path` and `shares` do not matter
    std::int64_t base = 0;  ///< the revision that the page shows
    std::string author, reason;
    bool is_plan = false;  ///< say what would change, and change nothing
};

/// {"path", "shares", "base", "reason", "undo", "plan"}. Errors: a sentence about the member that is missing or wrong.
Result<ShareEdit> share_edit_from(const std::string& json);
/// Job-priority's answer: {revision, changes, is_new}. Errors: ESTALE if the tree has changed since `base`; EINVAL with
/// the mistakes of the tree that would be.
Result<Json> put_share_edit(Client& client, const ShareEdit& edit);

}  // namespace weir::cmd
