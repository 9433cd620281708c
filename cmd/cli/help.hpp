// SPDX-License-Identifier: LGPL-3.0-only
// Owns: help text made from the command table, so that it always agrees with the parser. Pure.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// `weir --help`: three examples, then all commands with their summaries.
std::string overview(const std::vector<Command>& table);
/// `weir COMMAND --help`: its examples first, then usage, options and exit codes.
std::string command_help(const Command& command);
/// `weir share --help`: the commands of a group.
std::string group_help(const std::string& group, const std::vector<Command>& table);
/// "weir submit [OPTIONS] COMMAND..."
std::string usage_line(const Command& command);
/// What each exit code means, in two lines.
std::string exit_lines();

}  // namespace weir::cmd
