// SPDX-License-Identifier: LGPL-3.0-only
// Owns: look-ups of users and groups in the C library, with answers of any length. Must not know what the names are
// for.
#pragma once
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include "modules/job-priority/jobs/user_names.hpp"

namespace weir::priority {

/// One call of getpwnam_r() or the like: `call(buffer, size)` returns its error number and copies the result from the
/// buffer. The buffer grows while it is too small. Errors: the call's, but for those that mean "no such entry"
/// (getpwnam(3)). \param what for the error's sentence
template <typename Call>
Status with_buffer(const std::string& what, Call call) {
    constexpr std::size_t size_first = 1024;
    constexpr std::size_t size_max = std::size_t{64} << 20;  // a million members of a group
    for (std::vector<char> buffer(size_first);;) {
        int failed = call(buffer.data(), buffer.size());
        failed = failed < 0 ? errno : failed;  // libnss_wrapper returns -1 and sets errno
        if (failed == ERANGE && buffer.size() < size_max) {
            buffer.resize(2 * buffer.size());
        } else if (failed == 0 || failed == ENOENT || failed == ESRCH || failed == EBADF || failed == EPERM) {
            return Done{};
        } else if (failed != EINTR) {
            return Error{static_cast<std::errc>(failed), what + ": " + std::generic_category().message(failed)};
        }
    }
}

/// This machine's user database (nsswitch.conf).
UserDatabase system_users();

}  // namespace weir::priority
