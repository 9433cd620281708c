// SPDX-License-Identifier: LGPL-3.0-only
// Owns: where the demo keeps its files, and clearing what the last one left. Must not touch a folder it did not make.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

struct DemoFolder {
    std::string files;   ///< report, configurations, logs: kept
    std::string rundir;  ///< sockets: gone at the end
    std::string state;   ///< job journals, state files: kept
};

/// `given`, else <source>/build/demo where this program stands in a build folder, else ./weir-demo. Makes it and
/// empties it. Errors: EEXIST where the folder holds something else; EADDRINUSE where a demo is running in it.
Result<DemoFolder> make_demo_folder(const std::string& given);

}  // namespace weir::cmd
