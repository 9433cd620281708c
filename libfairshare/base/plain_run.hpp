// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the search for the characters of a JSON string that do not stand for themselves, or may not: controls, quotes,
// backslashes and what is not ASCII. Must not know what they stand for.
#pragma once
#include <cstdint>
#include <cstring>

namespace weir {

/// The characters that end a run of plain characters in a string.
inline bool is_special(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == '"' || byte == '\\' || byte >= 0x80;
}

/// Whether one of eight bytes is special: a zero byte is found by the borrow of a subtraction (Warren, Hacker's
/// Delight, section 6-1).
inline bool has_special(const char* bytes) {
    constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x80 * ones;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    const auto has_zero = [](std::uint64_t x) { return (x - ones) & ~x; };
    const std::uint64_t below_space = (word - 0x20 * ones) & ~word;
    return ((word | below_space | has_zero(word ^ '"' * ones) | has_zero(word ^ '\\' * ones)) & highs) != 0;
}

/// The end of the run of plain characters at `at`.
inline const char* end_of_plain(const char* at, const char* end) {
    while (static_cast<std::size_t>(end - at) >= sizeof(std::uint64_t) && !has_special(at)) {
        at += sizeof(std::uint64_t);
    }
    while (at != end && !is_special(*at)) {
        ++at;
    }
    return at;
}

}  // namespace weir
