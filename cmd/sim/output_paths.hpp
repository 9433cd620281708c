// SPDX-License-Identifier: LGPL-3.0-only
// Owns: whether the files that a command is to write can all be written without a loss: not into each other, not over
// what it reads, not between the figures on stdout. Must not know what is in them.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/command.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// A file of a command line.
struct NamedFile {
    std::string what;  ///< "--starts" of an output, "the log" of an input
    std::string path;  ///< "-" of an output: stdout; of an input: stdin
};

/// The outputs among `options` that are given.
std::vector<NamedFile> outputs_of(const Args& args, const std::vector<std::string>& options);

/// Files are the same if they are one file of the system, or will be. Errors, each EINVAL, which name both: an output
/// that is an input or another output; one that is on stdout, where the figures (without --quiet) or the JSON go.
Status check_outputs(const Context& context, const std::vector<NamedFile>& outputs,
                     const std::vector<NamedFile>& inputs);

}  // namespace weir::cmd
