// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the folder of the demo's files, and removing the files of the last demo. Must not touch a folder that it did
// not make.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

struct DemoFolder {
    std::string files;   ///< report, configurations, logs: kept at the end
    std::string rundir;  ///< sockets: gone at the end
    std::string state;   ///< job journals, state files: kept
};

/// `given`, else <source>/build/demo if this program is in a build folder, else ./weir-demo. Makes it and empties it.
/// Errors: EEXIST if the folder has other files; EADDRINUSE if a demo is running in it.
Result<DemoFolder> make_demo_folder(const std::string& given);

}  // namespace weir::cmd
