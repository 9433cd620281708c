// SPDX-License-Identifier: LGPL-3.0-only
// Owns: directories and files that only this process's user may have made and may change: run directories and state
// directories. Their contents can be trusted when they are read again, and no link in them was made by another user.
// Otherwise any user could create /tmp/weir-UID first and redirect our writes. Must not know what the files are for.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// Opens a directory that belongs to this process's user and that no other user may write to. A symbolic link to it
/// must belong to this user or to root.
/// \return an O_PATH descriptor, which the caller closes. Errors: ENOENT; EPERM that names the owner or the mode and
/// says what to do; ENOTDIR.
Result<int> open_private_dir(const std::string& path);
/// The check of open_private_dir() alone.
Status check_private_dir(const std::string& path);
/// Makes the directory with mode 0700; an existing one is checked. Its parent must exist.
/// \return true if it was made here.
Result<bool> make_private_dir(const std::string& path);

/// Writes a file into a private directory. The file is created new (mode 0600) and renamed when it is complete: an
/// existing file or link is neither followed nor changed. Errors: the path and the reason, such as a full disk.
Status write_private_file(const std::string& path, const std::string& text);

}  // namespace weir::broker
