// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the program weir. It is also `flux weir`, `flux share` and `flux prio`: the name under which it was started may
// replace the first word.
#include <string>
#include <vector>

#include "broker/api/standard_streams.hpp"
#include "cmd/cli/program.hpp"
#include "cmd/commands/commands.hpp"

namespace {

/// Flux starts `flux prio` as argv[0] "prio"; a link may be called flux-prio.
std::vector<std::string> words_of(int argc, char** argv) {
    std::string name = argc > 0 ? argv[0] : "weir";
    name = name.substr(name.rfind('/') + 1);
    name = name.compare(0, 5, "flux-") == 0 ? name.substr(5) : name;
    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (name == "share" || name == "prio") {
        words.insert(words.begin(), name);
    }
    return words;
}

}  // namespace

int main(int argc, char** argv) {
    weir::broker::occupy_standard_streams();
    return weir::cmd::run_program(words_of(argc, argv), weir::cmd::command_table());
}
