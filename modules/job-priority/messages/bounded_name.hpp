// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how long a name may be that a guest chooses. It is stored and reported to the parent, so that a longer one is
// not kept. Must not know: where the name stands.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::priority {

// Both are bytes of JSON. So 500 records, each with an account and four other names, have 1.1 MB at most. The names of
// users and of nodes have 255 bytes at most in any case.
inline constexpr std::size_t name_bytes_max = 255;      // a queue, a QoS, a project
inline constexpr std::size_t account_bytes_max = 1000;  // may be a path

/// Whether the text in JSON has at most `max` bytes, without the quotes. A control character has six.
inline bool is_bounded(std::string_view text, std::size_t max) {
    constexpr std::size_t escaped_byte_max = 6;
    if (text.size() > max || text.size() <= max / escaped_byte_max) {
        return text.size() <= max;
    }
    std::string json;
    append_quoted(json, text);
    return json.size() <= max + 2;
}

/// The name. A longer one becomes one with spaces, which no account can have: the job is as one that names an
/// account, a queue or a QoS that is not there.
inline std::string bounded_name(std::string name, std::size_t max) {
    return is_bounded(name, max) ? std::move(name) : std::string("(name too long)");
}

}  // namespace weir::priority
