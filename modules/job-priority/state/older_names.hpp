// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the names of children's jobs in records to our parent, where the state file is from before version 8.
// Must not know: how jobs are named now.
#pragma once
#include <cstdint>

namespace weir::priority {

/// Files before version 8 keep no names: each followed from the child's job and the number of the job in it
/// (splitmix64's finaliser). A job that began under such a name must end under it.
inline std::uint64_t older_name_above(std::uint64_t child, std::uint64_t job) {
    std::uint64_t x = job + 0x9e3779b97f4a7c15ULL * child;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace weir::priority
