// SPDX-License-Identifier: LGPL-3.0-only
// Owns: directories and files that nobody but this process's user may have made or may change: run directories and
// state directories. What stands in one may be read back and believed; a link in it leads nowhere that somebody else
// chose. Must not know what the files are for.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// Opens a directory that belongs to this process's user and that nobody else may write to. A symbolic link to it must
/// belong to this user or to root.
/// \return an O_PATH descriptor, the caller's to close. Errors: ENOENT; EPERM that names the owner or the mode and says
/// what to do; ENOTDIR.
Result<int> open_private_dir(const std::string& path);
/// The check of open_private_dir() alone.
Status check_private_dir(const std::string& path);
/// Makes the directory with mode 0700; one that is there already is checked. Its parent must exist.
/// \return true if it was made here.
Result<bool> make_private_dir(const std::string& path);

/// Writes a file into a private directory. The file is made anew (mode 0600) and takes the name's place when it is
/// whole: whatever stood there is neither followed nor changed. Errors: the path and the reason, such as a full disk.
Status write_private_file(const std::string& path, const std::string& text);

}  // namespace weir::broker
