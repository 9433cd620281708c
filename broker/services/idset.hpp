// SPDX-License-Identifier: LGPL-3.0-only
// Owns: sets of small non-negative integers and lists of host names as text. Must not know resources.
// Source: RFC 22 (idset), RFC 29 (hostlist).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

using Ids = std::vector<std::uint32_t>;  // ascending, without repetition

/// "0-3,7" or "[0-3,7]"; empty text is the empty set. At most 2^20 members.
/// \return an error that names the text and what is right.
Result<Ids> decode_idset(std::string_view text);
/// Shortest form without brackets.
std::string encode_idset(const Ids& ids);

/// "node[0-3,07]x,login" -> node0x node1x ... in order; zero padding is kept.
/// \return an error that names the text and what is right.
Result<std::vector<std::string>> decode_hostlist(std::string_view text);
/// Runs of consecutive numbers are folded into brackets; order is kept.
std::string encode_hostlist(const std::vector<std::string>& hosts);

}  // namespace weir::broker
