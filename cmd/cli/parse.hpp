// SPDX-License-Identifier: LGPL-3.0-only
// Owns: from argv to a command of the table with checked values, or to a sentence that names the remedy.
// Must not print. CLI11 is known to parse.cpp alone: it takes seconds to compile.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// What argv asks for.
struct Request {
    enum class What { run, help } what = What::run;
    const Command* command = nullptr;  ///< of the table; null for help on all or on a group
    std::string group;                 ///< help on a group
    Args args;
};

/// `argv` without the program's name. Errors (all exit code 2): unknown command or option with the nearest name, a
/// value missing or out of range, too few or too many words; each ends with the line that shows more.
Result<Request> parse(const std::vector<std::string>& argv, const std::vector<Command>& table);

}  // namespace weir::cmd
