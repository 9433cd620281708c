// SPDX-License-Identifier: LGPL-3.0-only
// Owns: making UUIDs. Must not know endpoints.
#include "broker/core/uuid.hpp"

#include <sys/random.h>

#include <array>

#include "libfairshare/base/check.hpp"

namespace weir::broker {

std::string new_uuid() {
    std::array<unsigned char, 16> bytes{};
    WEIR_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
    constexpr const char* hex_digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text.push_back('-');
        }
        text.push_back(hex_digits[bytes[i] >> 4]);
        text.push_back(hex_digits[bytes[i] & 0x0f]);
    }
    return text;
}

}  // namespace weir::broker
