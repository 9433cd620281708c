// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which names that another system gives its accounts and users a share tree can hold.
#pragma once
#include <string>
#include <string_view>

namespace weir::cmd {

/// Why the name is none of an account; empty if it is one.
std::string account_name_error(const std::string& name);
/// The same of a user, and of the partition in which he has a line ("alice:debug"); that is empty for all.
std::string user_line_error(const std::string& user, const std::string& partition);
/// A share tree is a text in UTF-8; other systems take any bytes.
bool is_utf8(std::string_view text);

}  // namespace weir::cmd
