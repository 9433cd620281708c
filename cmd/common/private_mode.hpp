// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whether an instance is private: [access] private-mode, as job-priority obeys it.
#pragma once
#include "cmd/common/client.hpp"

namespace weir::cmd {

/// Whether users may see other users' data only without names. Errors: those of config.get.
Result<bool> is_private(Client& client);

}  // namespace weir::cmd
