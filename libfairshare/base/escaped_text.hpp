// SPDX-License-Identifier: LGPL-3.0-only
// Owns: foreign bytes in a message: what a file holds, so that it cannot write to a terminal. Must not know files.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

/// `bytes` as UTF-8 without control characters: each byte of one, and each byte that is not UTF-8, becomes "\x1b" or
/// alike. At most `bytes_max` bytes are taken, no character in part; "..." stands for the rest. O(bytes_max).
std::string escaped(std::string_view bytes, std::size_t bytes_max = 40);

}  // namespace weir
