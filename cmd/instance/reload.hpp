// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the reload of an instance and of those below it, all or none. Must not print.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct Reloaded {
    std::vector<std::string> changes;    ///< "[weir] half-life: \"16d\" -> \"1d\""
    std::vector<std::string> warnings;   ///< each once, from all instances; of a share tree that was refused, too
    std::vector<std::string> instances;  ///< who read again: "top", "batch"
    std::int64_t revision = 0;           ///< of the share tree in force at the top; 0: there is none
};

/// `top` and every attached child instance that answers; a warning names one that does not. Errors: the message of the
/// instance that refused, or that `top` does not answer, and what is in force then: "Nothing was changed.", who kept
/// the new configuration, or when `top` reads the files. The time is bounded even if instances are stopped.
Result<Reloaded> reload_tree(Client& top);

}  // namespace weir::cmd
