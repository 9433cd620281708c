// SPDX-License-Identifier: LGPL-3.0-only
// Owns: writing of the manager's files: errors that name file and reason, whole writes, replacement that no kill and no
// power failure leaves half done. Must not know: what a file holds.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir::broker::jobs {

/// "OWNER: WHAT PATH: errno's words".
Error io_error(const std::string& owner, const std::string& what, const std::string& path);

/// Error: as io_error().
Status write_all(int fd, std::string_view bytes, const std::string& owner, const std::string& path);

/// The folder's entry is on the disk when it returns.
Status sync_folder_of(const std::string& path, const std::string& owner);

/// Replaces a file by one with these bytes: written beside it as PATH.new, synced, locked (flock) and renamed. The
/// caller calls sync_folder_of() then. Error: the old file stays. \return the new file, open for appending.
Result<int> replace_file(const std::string& path, std::string_view bytes, const std::string& owner);

}  // namespace weir::broker::jobs
