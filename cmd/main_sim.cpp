// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the program weir-sim, which `weir` becomes for `weir sim ...`; it takes the same words.
#include <string>
#include <vector>

#include "broker/api/standard_streams.hpp"
#include "cmd/cli/program.hpp"
#include "cmd/commands/sim_table.hpp"

int main(int argc, char** argv) {
    weir::broker::occupy_standard_streams();
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return weir::cmd::run_program(words, weir::cmd::sim_commands({weir::cmd::run_sim_run, weir::cmd::run_sim_generate,
                                                                  weir::cmd::run_sim_compare}));
}
