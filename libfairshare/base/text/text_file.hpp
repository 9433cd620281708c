// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a whole file, with an error that says why it failed. Must not know what is in it.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir {

/// All bytes of the file; "-" is an ordinary name. A directory, or a disk that fails midway, is an error and never an
/// empty or shorter text. Errors: the system's, with a sentence without the path.
Result<std::string> read_text_file(const std::string& path);
/// The same of standard input.
Result<std::string> read_standard_input();

}  // namespace weir
