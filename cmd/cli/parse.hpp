// SPDX-License-Identifier: LGPL-3.0-only
// Owns: parsing argv into a command of the table with checked values, or an error that names the remedy. Must not
// print. Only parse.cpp includes CLI11, which takes seconds to compile.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// The result of parsing.
struct Request {
    enum class What { run, help } what = What::run;
    const Command* command = nullptr;  ///< of the table; null for help on all or on a group
    std::string group;                 ///< help on a group
    Args args;
};

/// `argv` without the program's name. Errors (all exit code 2): unknown command or option with the nearest name, a
/// value missing or out of range, too few or too many words; each ends with the command that shows more.
Result<Request> parse(const std::vector<std::string>& argv, const std::vector<Command>& table);

}  // namespace weir::cmd
