// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rows of `weir sim` for both programs: weir parses them, weir-sim runs them.
#pragma once
#include <vector>

#include "cmd/cli/command.hpp"

namespace weir::cmd {

/// What runs each command.
struct SimRuns {
    Exit (*run)(Context&) = nullptr;
    Exit (*generate)(Context&) = nullptr;
    Exit (*compare)(Context&) = nullptr;
};

/// In the order of the help.
std::vector<Command> sim_commands(const SimRuns& runs);

/// Of the program weir-sim.
Exit run_sim_run(Context& context);
Exit run_sim_generate(Context& context);
Exit run_sim_compare(Context& context);

}  // namespace weir::cmd
