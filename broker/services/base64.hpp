// SPDX-License-Identifier: LGPL-3.0-only
// Owns: base64 as event.publish and the KVS use it. Must not know what the bytes are.
// Source: RFC 4648 section 4.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace weir::broker {

std::string base64_encode(std::string_view bytes);
/// \return nothing unless the text is whole, padded base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace weir::broker
