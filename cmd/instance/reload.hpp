// SPDX-License-Identifier: LGPL-3.0-only
// Owns: letting an instance and those below it read their configurations again, all or none. Must not print.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cmd/common/client.hpp"

namespace weir::cmd {

struct Reloaded {
    std::vector<std::string>
        changes;  ///< "[weir] half-life: \"16d\" -> \"1d\""; none from a stock Flux, which tells none
    std::vector<std::string> warnings;   ///< each once, from all instances; of a share tree that was refused, too
    std::vector<std::string> instances;  ///< who read again: "top", "batch"
    std::int64_t revision = 0;           ///< of the share tree in force at the top; 0: there is none
};

/// `top` and every attached child instance that answers; a warning names one that does not. Errors: what the one that
/// refused said, or that `top` does not answer; then all have their former configuration. Takes a bounded time, whoever
/// is stopped.
Result<Reloaded> reload_tree(Client& top);

}  // namespace weir::cmd
