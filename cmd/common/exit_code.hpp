// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the command's exit codes and how an Error maps to one. Listed in cmd/README.md and tested by t7001.
#pragma once
#include <cerrno>
#include <system_error>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

enum class Exit : int {
    ok = 0,
    failed = 1,
    usage = 2,
    no_instance = 3,  ///< no instance listens, or the module that answers is not loaded
    not_permitted = 4,
    no_such = 5,
    stale = 6,         ///< the tree changed since it was read
    invalid_tree = 7,  ///< an invalid share tree; nothing was changed
    interrupted = 130,
};

/// For errors of the instance; commands map other errors (usage, invalid tree) themselves.
inline Exit exit_of(const Error& error) {
    switch (static_cast<int>(error.code)) {
        case EPERM:
        case EACCES:
            return Exit::not_permitted;
        case ENOENT:
            return Exit::no_such;
        case ENOSYS:
        case ECONNREFUSED:
        case ECONNRESET:
        case ENOTCONN:
            return Exit::no_instance;
        case ESTALE:
            return Exit::stale;
        default:
            return Exit::failed;
    }
}

/// For a file that a command cannot read.
inline Exit exit_of_unread(const Error& error) {
    return exit_of(error) == Exit::not_permitted ? Exit::not_permitted : Exit::no_such;
}

}  // namespace weir::cmd
