// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the accounts and users as the plugin is told of them. Must not know: the plugin's protocol.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/tree/share_tree.hpp"
#include "modules/job-priority/jobs/user_names.hpp"

namespace weir::priority {

/// What the plugin needs to judge submissions.
struct AccountsView {
    struct User {
        std::uint32_t userid = 0;
        std::string name;
        std::optional<std::string> default_account;
        std::vector<std::string> accounts;  ///< every spelling that resolves
    };
    std::vector<User> users;
    std::vector<std::string> known_accounts;  ///< every spelling of every account, whoever may use it
    std::vector<std::string> open_accounts;
    std::optional<std::string> open_default;
    /// A job without an account pays what it would pay with its user's default account: nothing else of it decides.
    bool has_plain_defaults = true;
};

/// O(nodes x depth).
AccountsView accounts_view(const ShareTree& tree, UserNames& users);

}  // namespace weir::priority
