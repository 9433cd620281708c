// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see escaped_text.hpp. Source: RFC 3629 for what is UTF-8.
#include "libfairshare/base/escaped_text.hpp"

namespace weir {
namespace {

/// Bytes of the printable character at the beginning; 0: a control character, or not UTF-8.
std::size_t printable_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    }
    const std::size_t length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : 4;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const unsigned char second = byte(1);
    const bool is_control = lead == 0xc2 && second < 0xa0;
    const bool is_overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool is_surrogate = lead == 0xed && second >= 0xa0;
    const bool is_above_unicode = lead == 0xf4 && second >= 0x90;
    return is_control || is_overlong || is_surrogate || is_above_unicode ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view bytes, std::size_t bytes_max) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::size_t length = printable_length(bytes.substr(at, 4));
        const std::size_t taken = length == 0 ? 1 : length;
        if (at + taken > bytes_max) {
            break;
        }
        if (length > 0) {
            text += bytes.substr(at, length);
        } else {
            const auto byte = static_cast<unsigned char>(bytes[at]);
            text += "\\x";
            text += digits[byte >> 4];
            text += digits[byte & 15];
        }
        at += taken;
    }
    return at < bytes.size() ? text + "..." : text;
}

}  // namespace weir
