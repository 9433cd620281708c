// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see usage.hpp.
#include "libfairshare/usage/usage.hpp"

#include <algorithm>

namespace weir {

std::string to_decimal(SignedCoreMicros value) {
    const bool is_negative = value < 0;
    auto rest = static_cast<CoreMicros>(value);
    if (is_negative) {
        rest = 0 - rest;
    }
    std::string digits;
    do {
        digits += static_cast<char>('0' + static_cast<int>(rest % 10));
        rest /= 10;
    } while (rest != 0);
    if (is_negative) {
        digits += '-';
    }
    std::reverse(digits.begin(), digits.end());
    return digits;
}

}  // namespace weir
