// SPDX-License-Identifier: LGPL-3.0-only
// Owns: base64, as Flux has it in events, in the KVS and in signed jobspecs. Must not know what the bytes are.
// Source: RFC 4648 section 4.
#pragma once
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir {

/// With padding.
std::string base64_encode(std::string_view bytes);
/// Errors: a length that is no multiple of 4, or the offset of a character that is not base64; padding stands at the
/// end alone.
Result<std::string> base64_decode(std::string_view text);

}  // namespace weir
