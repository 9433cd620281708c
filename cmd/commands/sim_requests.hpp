// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the option --requests, what a scheduler knows of run times, for all commands that replay a log.
#pragma once
#include <string>

#include "cmd/cli/command.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// Whether requests are raised to the run times. Error: a value that is none.
inline Result<bool> requests_cover_runs(const Args& args) {
    const std::string how = args.text("requests", "as-written");
    if (how != "as-written" && how != "at-least-run") {
        return Error{std::errc::invalid_argument,
                     "--requests takes \"as-written\" or \"at-least-run\", not \"" + how + "\"."};
    }
    return how == "at-least-run";
}

}  // namespace weir::cmd
