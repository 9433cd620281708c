// SPDX-License-Identifier: LGPL-3.0-only
// Owns: weir-broker's command line. Must not know what the options do.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "broker/core/config.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct Options {
    std::vector<ConfigSource> configs;                            // -c, --inherit, in order
    std::vector<std::pair<std::string, std::string>> attributes;  // -S name=value, in order
    std::string rundir;                                           // --rundir; empty: a fresh directory under TMPDIR
    int ready_fd = -1;                                            // --ready-fd
    bool wants_help = false;
    bool wants_version = false;
};

/// \return an error that names the argument and what is right.
Result<Options> parse_options(const std::vector<std::string>& arguments);

/// The text of --help.
std::string usage();

}  // namespace weir::broker
