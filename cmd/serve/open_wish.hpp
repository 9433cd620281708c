// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading what a viewer says he has open. Must not know HTTP, nor whose stream it is.
#pragma once
#include <cstdint>
#include <string>

#include "cmd/serve/tree_levels.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

struct OpenWish {
    std::uint64_t viewer = 0;  ///< the number of his stream
    Opened opened;
};
/// Of paths that a viewer has open, and of bytes that he searches; what is beyond is left out.
inline constexpr std::size_t opened_max = 20'000, search_bytes_max = 100;

/// {"viewer", "all", "search", "open": [path, …]}. Errors: it is no JSON object.
Result<OpenWish> open_wish_from(const std::string& json);

}  // namespace weir::cmd
