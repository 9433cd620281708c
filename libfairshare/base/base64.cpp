// SPDX-License-Identifier: LGPL-3.0-only
// Owns: coding of base64.
#include "libfairshare/base/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of each character; -1 for those that are not in the alphabet.
constexpr std::array<std::int16_t, 256> values = [] {
    std::array<std::int16_t, 256> all{};
    all.fill(-1);
    for (std::size_t i = 0; i < alphabet.size(); i++) {
        all[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int16_t>(i);
    }
    return all;
}();

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; k++) {
            text += k <= n ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text;
}

Result<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) {
        return Error{std::errc::invalid_argument, "base64: the length must be a multiple of 4"};
    }
    for (int padding = 0; padding < 2 && text.ends_with('='); padding++) {
        text.remove_suffix(1);
    }
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int count = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
        const int value = values[static_cast<unsigned char>(text[i])];
        if (value < 0) {
            return Error{std::errc::invalid_argument, "base64: unexpected character at offset " + std::to_string(i)};
        }
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xff);
        }
    }
    return bytes;
}

}  // namespace weir
