// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the manual page made from the command table. Must not know any command.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// weir(1) in man(7)'s macros: every command with its options and examples.
std::string man_page(const std::vector<Command>& table, const std::string& version);

}  // namespace weir::cmd
