// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whether an instance is private: [access] private-mode, as flux-config-access(5) has it.
#pragma once
#include "cmd/common/client.hpp"

namespace weir::cmd {

/// Whether users may see of others only what has no name. Errors: those of config.get.
Result<bool> is_private(Client& client);

}  // namespace weir::cmd
