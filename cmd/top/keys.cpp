// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of sequences.
#include "cmd/top/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::cmd {
namespace {

/// Behind "ESC [" or "ESC O".
constexpr std::array<std::pair<std::string_view, KeyName>, 13> key_sequences{{{"A", KeyName::up},
                                                                              {"B", KeyName::down},
                                                                              {"C", KeyName::right},
                                                                              {"D", KeyName::left},
                                                                              {"H", KeyName::home},
                                                                              {"F", KeyName::end},
                                                                              {"1~", KeyName::home},
                                                                              {"7~", KeyName::home},
                                                                              {"4~", KeyName::end},
                                                                              {"8~", KeyName::end},
                                                                              {"5~", KeyName::page_up},
                                                                              {"6~", KeyName::page_down},
                                                                              {"M", KeyName::enter}}};
constexpr std::size_t sequence_max = 16;

/// Bytes of the code point that begins with this one.
std::size_t code_point_size(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

}  // namespace

std::optional<Key> KeyReader::sequence() {
    if (bytes_.size() < 2) {
        return std::nullopt;
    }
    if (bytes_[1] != '[' && bytes_[1] != 'O') {
        bytes_.erase(0, 1);
        return Key{KeyName::escape, {}};
    }
    const auto ends = [](char c) { return c >= 0x40 && c <= 0x7e; };
    const auto end = std::find_if(bytes_.begin() + 2, bytes_.end(), ends);
    if (end == bytes_.end()) {
        bytes_.resize(bytes_.size() > sequence_max ? 0 : bytes_.size());
        return std::nullopt;
    }
    const std::string tail(bytes_.begin() + 2, end + 1);
    bytes_.erase(bytes_.begin(), end + 1);
    const auto known =
        std::find_if(key_sequences.begin(), key_sequences.end(), [&](const auto& one) { return one.first == tail; });
    return known == key_sequences.end() ? next() : Key{known->second, {}};
}

std::optional<Key> KeyReader::next() {
    while (!bytes_.empty()) {
        const auto lead = static_cast<unsigned char>(bytes_[0]);
        if (lead == 0x1b) {
            return sequence();
        }
        const std::size_t size = code_point_size(lead);
        if (bytes_.size() < size) {
            return std::nullopt;
        }
        const std::string text = bytes_.substr(0, size);
        bytes_.erase(0, size);
        if (lead == '\r' || lead == '\n') {
            return Key{KeyName::enter, {}};
        }
        if (lead == '\t') {
            return Key{KeyName::tab, {}};
        }
        if (lead == 0x7f || lead == 0x08) {
            return Key{KeyName::backspace, {}};
        }
        if (lead >= 0x20) {
            return Key{KeyName::character, text};
        }
    }
    return std::nullopt;
}

Key KeyReader::decide() {
    bytes_.clear();
    return {KeyName::escape, {}};
}

}  // namespace weir::cmd
