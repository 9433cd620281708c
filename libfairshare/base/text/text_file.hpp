// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading a whole file, with an error that says why it failed. Must not know what is in it.
#pragma once
#include <cstddef>
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir {

/// More than a text that a person or a site writes has: a share tree of a million users takes a fifth of it.
inline constexpr std::size_t text_bytes_max = std::size_t{256} << 20;

/// All bytes of the file; "-" is an ordinary name. A directory, or a disk that fails midway, is an error and never an
/// empty or shorter text, and so is a file of more than text_bytes_max bytes, or one that never ends, such as
/// /dev/zero. Errors: the system's, with a sentence without the path.
Result<std::string> read_text_file(const std::string& path);
/// The same of standard input.
Result<std::string> read_standard_input();

}  // namespace weir
