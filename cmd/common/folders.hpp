// SPDX-License-Identifier: LGPL-3.0-only
// Owns: making the folders for the sockets, settings and state of instances. Must not know what they hold.
#pragma once
#include <filesystem>
#include <string>

#include "broker/api/private_dir.hpp"

namespace weir::cmd {

/// Makes a private directory (broker/api/private_dir) and its missing parents. \return true if it was made here.
/// Errors: it cannot be made, or another user owns it.
inline Result<bool> make_private_tree(const std::string& path) {
    std::error_code problem;
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    if (!above.empty() && (std::filesystem::create_directories(above, problem), problem)) {
        return Error{static_cast<std::errc>(problem.value()),
                     "cannot make " + above.string() + ": " + problem.message()};
    }
    return broker::make_private_dir(path);
}

}  // namespace weir::cmd
