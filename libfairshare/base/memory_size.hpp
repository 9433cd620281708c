// SPDX-License-Identifier: LGPL-3.0-only
// Owns: amounts of memory as people write them, "512MiB", "4GiB". Must not know what they are for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir {

/// MiB; a whole number from 1 and MiB, GiB or TiB (M, G and T mean the same), at most 4294967295 MiB.
Result<std::uint32_t> parse_mib(std::string_view text);
/// Writes the amount in the largest unit that divides it. parse_mib() is the inverse.
std::string encode_mib(std::uint32_t mib);

}  // namespace weir
