// SPDX-License-Identifier: LGPL-3.0-only
// Owns: `weir import slurm`: the accounts of a Slurm cluster as a share tree.
#include "cmd/accounting/slurm_accounts.hpp"
#include "cmd/commands/answer.hpp"
#include "cmd/commands/commands.hpp"
#include "cmd/commands/conversion.hpp"
#include "libfairshare/base/text/text_file.hpp"

namespace weir::cmd {
namespace {

Exit run_import_slurm(Context& context) {
    const std::string path = context.args.words.empty() ? "-" : context.args.words.front();
    const std::string shown = path == "-" ? "standard input" : path;
    const auto text = path == "-" ? read_standard_input() : read_text_file(path);
    if (!text) {
        return context.fail(exit_of_unread(text.error()), "cannot read " + shown + ": " + text.error().message +
                                                              ". Write it with: sacctmgr dump CLUSTER file=FILE");
    }
    return print_imported(context, read_slurm_accounts(*text, shown));
}

}  // namespace

Command import_slurm_command() {
    Command command;
    command.name = "import slurm";
    command.summary = "print the accounts of a Slurm cluster as a share tree";
    command.examples = {"sacctmgr dump tux file=tux.cfg  # on the cluster tux",
                        "weir import slurm tux.cfg > shares.toml  # its accounts and users as a share tree",
                        "weir import slurm tux.cfg | weir share apply --dry-run -  # what would change"};
    command.words = {"[FILE]", 0, 1};
    command.has_json = false;
    command.run = run_import_slurm;
    return command;
}

}  // namespace weir::cmd
