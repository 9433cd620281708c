// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a variable of the environment. Must not know which variables there are.
#pragma once
#include <cstdlib>
#include <string>

namespace weir::cmd {

/// Empty if it is not set.
inline std::string env(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace weir::cmd
