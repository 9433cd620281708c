// SPDX-License-Identifier: LGPL-3.0-only
// Owns: RFC 29 hostlists: one bracket a name, zero padding kept, text after the bracket allowed.
#include "libfairshare/base/hostlist.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace weir {
namespace {

constexpr std::size_t digits_max = 9;
constexpr std::size_t host_name_length_max = 255;

Error bad_list(std::string_view text, std::size_t at, const std::string& why) {
    return Error{std::errc::invalid_argument, "\"" + std::string(text.substr(0, 64)) + "\" at character " +
                                                  std::to_string(at + 1) + ": " + why + "; write node[0-3,7]"};
}

constexpr const char* too_long = "a host name has at most 255 characters";

std::string more_than(std::size_t names_max) {
    return "more than " + std::to_string(names_max) + " names";
}

std::string padded(std::uint64_t number, std::size_t width) {
    std::string digits = std::to_string(number);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// Reads digits at `at`; their count is the zero padding's width.
std::optional<std::uint64_t> number_at(std::string_view text, std::size_t& at, std::size_t& width) {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    width = at - begin;
    std::uint64_t value = 0;
    if (width == 0 || width > digits_max) {
        return std::nullopt;
    }
    std::from_chars(text.data() + begin, text.data() + at, value);
    return value;
}

/// One "prefix[ranges]suffix" or plain name, text[from, to).
std::optional<Error> expand(std::string_view text, std::size_t from, std::size_t to, std::size_t names_max,
                            std::vector<std::string>& names) {
    const std::string_view word = text.substr(0, to);
    const std::size_t open = word.find('[', from);
    if (const std::size_t stray = word.find(']', from); stray < open) {
        return bad_list(text, stray, "a bracket is closed that was not opened");
    }
    if (names.size() >= names_max) {
        return bad_list(text, from, more_than(names_max));
    }
    if (open == std::string_view::npos) {
        if (to - from > host_name_length_max) {
            return bad_list(text, from, too_long);
        }
        names.emplace_back(word.substr(from));
        return std::nullopt;
    }
    const std::size_t close = word.find(']', open);
    if (close == std::string_view::npos) {
        return bad_list(text, open, "the bracket is not closed");
    }
    if (word.find_first_of("[]", close + 1) != std::string_view::npos) {
        return bad_list(text, close + 1, "a name has one bracket at most");
    }
    const std::string prefix(word.substr(from, open - from));
    const std::string suffix(word.substr(close + 1));
    if (prefix.size() + suffix.size() + digits_max > host_name_length_max) {
        return bad_list(text, from, too_long);
    }
    std::size_t at = open + 1;
    while (true) {
        std::size_t width = 0;
        std::size_t last_width = 0;
        const auto first = number_at(text, at, width);
        auto last = first;
        if (first && at < close && text[at] == '-') {
            at++;
            last = number_at(text, at, last_width);
        }
        if (!first || !last || *last < *first) {
            return bad_list(text, at, "a number or an ascending range of at most 9 digits is expected here");
        }
        if (*last - *first >= names_max - std::min(names_max, names.size())) {
            return bad_list(text, at, more_than(names_max));
        }
        for (std::uint64_t n = *first; n <= *last; n++) {
            names.push_back(prefix + padded(n, width) + suffix);
        }
        if (at == close) {
            return std::nullopt;
        }
        if (text[at] != ',') {
            return bad_list(text, at, "numbers are separated by commas");
        }
        at++;
    }
}

/// A name as prefix and trailing number; no number: width 0.
struct Split {
    std::string_view prefix;
    std::size_t width = 0;
    std::uint64_t number = 0;
};
Split split(std::string_view name) {
    std::size_t begin = name.size();
    while (begin > 0 && name.size() - begin < digits_max && name[begin - 1] >= '0' && name[begin - 1] <= '9') {
        begin--;
    }
    Split out{name.substr(0, begin), name.size() - begin, 0};
    std::from_chars(name.data() + begin, name.data() + name.size(), out.number);
    return out;
}

/// Whether b is a's successor in one range: same prefix, next number, same padding rule.
bool follows(const Split& a, const Split& b) {
    return a.width > 0 && b.width > 0 && a.prefix == b.prefix && b.number == a.number + 1 &&
           padded(b.number, a.width).size() == b.width;
}

}  // namespace

Result<std::vector<std::string>> hostlist_decode(std::string_view text, std::size_t names_max) {
    names_max = std::min(names_max, hostlist_max);
    std::vector<std::string> names;
    std::size_t from = 0;
    bool inside = false;
    for (std::size_t at = 0; at <= text.size() && !text.empty(); at++) {
        if (at < text.size() && (text[at] == '[' || text[at] == ']')) {
            inside = text[at] == '[';
        }
        if (at < text.size() && (text[at] != ',' || inside)) {
            continue;
        }
        if (at == from) {
            return bad_list(text, at, "a name is missing");
        }
        if (auto error = expand(text, from, at, names_max, names)) {
            return std::move(*error);
        }
        from = at + 1;
    }
    return names;
}

std::string hostlist_encode(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size();) {
        // One bracket: runs with the same prefix and padding width.
        const Split head = split(names[i]);
        std::string ranges;
        std::size_t runs = 0;
        std::size_t next = i;
        while (next < names.size()) {
            const Split first = split(names[next]);
            if (next > i && (head.width == 0 || first.width == 0 || first.prefix != head.prefix)) {
                break;
            }
            Split last = first;
            std::size_t end = next + 1;
            while (end < names.size() && follows(last, split(names[end]))) {
                last = split(names[end]);
                end++;
            }
            ranges += (runs++ > 0 ? "," : "") + padded(first.number, first.width);
            ranges += end - next > 1 ? "-" + padded(last.number, first.width) : "";
            next = end;
            if (head.width == 0) {
                break;
            }
        }
        out += out.empty() ? "" : ",";
        out += next - i == 1 ? names[i] : std::string(head.prefix) + "[" + ranges + "]";
        i = next;
    }
    return out;
}

}  // namespace weir
