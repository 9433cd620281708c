// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see names.hpp.
#include "cmd/accounting/names.hpp"

#include <algorithm>

#include "libfairshare/tree/share_tree_builder.hpp"

namespace weir::cmd {
namespace {

constexpr const char* encoding_error = "it is not in UTF-8";

/// Bytes of the sequence that begins so; 0: none does.
std::size_t utf8_length(unsigned char first) {
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/// Whether the second byte makes no overlong form, no surrogate and nothing above U+10FFFF.
bool is_utf8_second(unsigned char first, unsigned char second) {
    const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text[0]);
        const std::size_t length = utf8_length(first);
        if (length == 0 || length > text.size() ||
            (length > 1 && !is_utf8_second(first, static_cast<unsigned char>(text[1])))) {
            return false;
        }
        const std::string_view rest = text.substr(1, length - 1);
        if (!std::all_of(rest.begin(), rest.end(), [](char c) { return (c & 0xc0) == 0x80; })) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string account_name_error(const std::string& name) {
    const std::string why = component_error(name);
    if (!why.empty()) {
        return why;
    }
    if (kind_of_component(name) != NodeKind::account) {
        return "it begins as a line of another kind does";
    }
    return is_utf8(name) ? "" : encoding_error;
}

std::string user_line_error(const std::string& user, const std::string& partition) {
    const std::string why = partition.empty() ? user_name_error(user) : component_error("@" + user + ":" + partition);
    return !why.empty() || (is_utf8(user) && is_utf8(partition)) ? why : encoding_error;
}

}  // namespace weir::cmd
