// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the bash completion script made from the command table, so that it completes commands and options. Must not
// know any command.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// A script for bash-completion's folder. Where neither a command nor an option fits, it completes file names.
std::string bash_completion(const std::vector<Command>& table);

}  // namespace weir::cmd
