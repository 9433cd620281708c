// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir sim ...`: this process becomes the program weir-sim, which has the simulator.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cmd/commands/commands.hpp"
#include "cmd/commands/sim_table.hpp"
#include "cmd/instance/broker_process.hpp"

namespace weir::cmd {
namespace {

/// Beside this program in a build folder; in PREFIX/libexec/weir for PREFIX/bin/weir and for
/// PREFIX/libexec/flux/cmd/flux-weir.
Exit become_simulator(Context& context) {
    std::vector<char*> argv{const_cast<char*>("weir-sim")};  // exec does not write to them
    for (std::string& word : context.words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const std::string folder = program_folder();
    for (const char* place : {"/weir-sim", "/../libexec/weir/weir-sim", "/../../weir/weir-sim"}) {
        execv((folder + place).c_str(), argv.data());
        if (errno != ENOENT) {
            return context.fail(Exit::failed, "cannot start " + folder + place + ": " + std::strerror(errno) + ".");
        }
    }
    return context.fail(Exit::failed,
                        "the simulator is a program of its own, weir-sim, which is not here. Build it: cmake --build " +
                            std::filesystem::path(folder).parent_path().string() + " --target weir-sim");
}

}  // namespace

std::vector<Command> sim_group() {
    return sim_commands({become_simulator, become_simulator, become_simulator});
}

}  // namespace weir::cmd
