// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the nearest known name to a mistyped one, for messages. Must not know what the names mean.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Damerau-Levenshtein distance (optimal string alignment) in bytes; stops at `limit` and returns limit + 1.
/// O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The name nearest to `word`: at most a third of the word's length away, or one edit. A name that begins with the
/// word, if that has two bytes at least, counts as one edit away. Ties: the first name. Empty: there is none.
std::string nearest_name(std::string_view word, std::span<const std::string_view> names);
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// `did you mean "x"?` or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace weir
