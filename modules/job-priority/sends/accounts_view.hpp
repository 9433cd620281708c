// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the accounts and users as they are sent to the plugin. Must not know: the plugin's protocol.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "modules/job-priority/jobs/user_names.hpp"

namespace weir::priority {

/// The plugin's input for checking submissions.
struct AccountsView {
    struct User {
        std::uint32_t userid = 0;
        std::string name;
        bool has_line = false;  ///< false: only `@*` lines admit the user
        std::optional<std::string> default_account;
        std::vector<std::string> accounts;  ///< every spelling that resolves
    };
    std::vector<User> users;
    std::vector<std::string> known_accounts;  ///< every spelling of every account, for the owner
    std::vector<std::string> open_accounts;
    std::optional<std::string> open_default;
    /// Whether a job without an account has the payer that it would have with its user's default account.
    bool has_plain_defaults = true;
};

/// \param lines  the tree without members by `@*`
/// O(nodes x depth).
AccountsView accounts_view(const ShareTree& tree, const ShareTree& lines, UserNames& users);

}  // namespace weir::priority
