// SPDX-License-Identifier: LGPL-3.0-only
// Owns: from words to an exit code, for every program that has a command table. Must not know any command.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// Runs the command that `words` (argv without the program's name) name, or prints help. Returns the exit code of the
/// process: the command's, or "failed" where its output could not be written although a reader was there. Exceptions
/// become a message and 1. Sets the locale's characters and ignores SIGPIPE.
int run_program(const std::vector<std::string>& words, const std::vector<Command>& table);

}  // namespace weir::cmd
