// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rounding and the widths behind text.hpp.
#include "cmd/common/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace weir::cmd {
namespace {

/// One code point and its length in bytes; an invalid byte counts as itself.
struct CodePoint {
    char32_t value;
    std::size_t bytes;
};
CodePoint code_point_at(std::string_view s, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const unsigned char lead = byte(at);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    if (length == 1 || at + length > s.size()) {
        return {lead, 1};
    }
    char32_t value = lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) {
            return {lead, 1};
        }
        value = (value << 6) | (byte(at + i) & 0x3fu);
    }
    return {value, length};
}

std::size_t columns_of(char32_t c) {
    const bool combining = (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || c == 0xfe0f;
    const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
                      (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                      (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
    return combining ? 0 : wide ? 2 : 1;
}

/// Marks, embeddings, overrides and isolates.
bool turns_direction(char32_t c) {
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool is_control(const CodePoint& c) {
    return c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0) || (c.bytes == 1 && c.value >= 0x80) ||
           turns_direction(c.value);
}

/// `kept`: control characters that stay.
std::string without_controls(std::string_view utf8, std::string_view kept) {
    std::string text;
    for (std::size_t at = 0; at < utf8.size();) {
        const CodePoint c = code_point_at(utf8, at);
        const bool stays = !is_control(c) || kept.find(utf8[at]) != std::string_view::npos;
        text += stays ? utf8.substr(at, c.bytes) : "?";
        at += c.bytes;
    }
    return text;
}

}  // namespace

std::string fixed(double value, int decimals) {
    std::array<char, 400> buffer;
    // to_chars rounds the exact binary value half to even; people expect 0.25 -> 0.3: move off ties by half an ulp.
    const double nudged = std::nextafter(value, value < 0 ? -INFINITY : INFINITY);
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), nudged, std::chars_format::fixed, decimals);
    std::string text(buffer.data(), end.ptr);
    return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string percent(double fraction) {
    return std::isfinite(fraction) ? fixed(fraction * 100, 1) + " %" : "-";
}

double times_entitled(double used, double entitled) {
    return entitled > 0 ? used / entitled : used > 0 ? std::numeric_limits<double>::infinity() : 0;
}

std::string ratio(double value, Glyphs glyphs) {
    if (std::isnan(value)) {
        return "-";
    }
    if (value > 999) {
        return glyphs.unicode ? "∞" : "inf";
    }
    return fixed(value, 2) + (glyphs.unicode ? "×" : "x");
}

std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    if (digits.size() - first <= 4) {
        return digits;
    }
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ' ');
    }
    return digits;
}

std::optional<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
        return std::nullopt;
    }
    return value;
}

std::string core_hours(double core_s) {
    const double hours = core_s / 3600;
    if (hours >= 1000) {
        return grouped(static_cast<std::int64_t>(hours + 0.5));
    }
    const bool is_small = hours > 0 && hours < 0.9995;
    return is_small && hours < 0.00005 ? "<0.0001" : fixed(hours, is_small ? 4 : 2);
}

std::optional<Duration> parse_duration(std::string_view text) {
    const auto value = parse_fsd_with_unit(text);
    const bool is_usable = value && *value <= std::chrono::hours(100 * 366 * 24);
    return is_usable ? std::optional<Duration>(*value) : std::nullopt;
}

std::size_t columns(std::string_view utf8) {
    std::size_t total = 0;
    for (std::size_t at = 0; at < utf8.size();) {
        const CodePoint c = code_point_at(utf8, at);
        total += columns_of(c.value);
        at += c.bytes;
    }
    return total;
}

std::string clipped(std::string_view utf8, std::size_t width, Glyphs glyphs) {
    if (columns(utf8) <= width) {
        return std::string(utf8);
    }
    if (width == 0) {
        return {};
    }
    std::size_t used = 0, at = 0;
    while (at < utf8.size()) {
        const CodePoint c = code_point_at(utf8, at);
        if (used + columns_of(c.value) > width - 1) {
            break;
        }
        used += columns_of(c.value);
        at += c.bytes;
    }
    return std::string(utf8.substr(0, at)) + (glyphs.unicode ? "…" : ".");
}

std::string padded_left(std::string_view text, std::size_t width) {
    const std::size_t used = columns(text);
    return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string padded_right(std::string_view text, std::size_t width) {
    const std::size_t used = columns(text);
    return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
}

std::string printable(std::string_view utf8) {
    return without_controls(utf8, "");
}

std::string printable_lines(std::string_view utf8) {
    return without_controls(utf8, "\n\t");
}

}  // namespace weir::cmd
