// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text form of a list of host names, "node[0-3,07],login" (RFC 29 hostlist). Order and repetitions count.
// Must not know ranks. A decoded list is bounded, so that "a[0-999999999]" is an error and not an empty machine.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir {

inline constexpr std::size_t hostlist_max = 1U << 20;

/// Names in order, of at most 255 characters (RFC 1035). Nothing is expanded beyond `names_max`, which is at most
/// hostlist_max: a caller who knows how many names make sense says so. Errors: what is wrong at which character.
Result<std::vector<std::string>> hostlist_decode(std::string_view text, std::size_t names_max = hostlist_max);
/// Runs of names that differ in a trailing number become prefix[first-last]. hostlist_decode gives the same list.
std::string hostlist_encode(const std::vector<std::string>& names);

}  // namespace weir
