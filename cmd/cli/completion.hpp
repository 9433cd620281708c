// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the command table as bash reads it, so that it completes commands and options. Must not know any command.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// A script for bash-completion's folder; where neither command nor option is asked for it completes file names.
std::string bash_completion(const std::vector<Command>& table);

}  // namespace weir::cmd
