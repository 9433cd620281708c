// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the reader and the queries of flat_json.hpp.
#include "libfairshare/base/flat_json.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "libfairshare/base/plain_run.hpp"

namespace weir {
namespace {

constexpr int depth_max = 2048;
/// Of 64 bits with a sign. So many fit an unsigned integer, whichever they are.
constexpr std::size_t integer_digits_max = 19;
/// A shorter number without an exponent cannot leave the range of a double.
constexpr std::size_t real_size_sure = 300;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The upper half of a digit's byte is 3, also when 6 is added to it (Lemire: Number Parsing at a Gigabyte per Second,
/// 2021).
bool are_eight_digits(const char* bytes) {
    constexpr std::uint64_t upper = 0xF0F0F0F0F0F0F0F0, threes = 0x3030303030303030, sixes = 0x0606060606060606;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return (word & upper) == threes && ((word + sixes) & upper) == threes;
}

/// Their value: neighbours are added in pairs, then pairs of pairs (the same, algorithm 1).
std::uint64_t eight_digits(const char* digits) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, digits, sizeof word);
    word -= 0x3030303030303030;
    word = word * 10 + (word >> 8);
    constexpr std::uint64_t mask = 0x000000FF000000FF;
    return ((word & mask) * 0x000F424000000064 + ((word >> 16) & mask) * 0x0000271000000001) >> 32;
}

/// The bytes of the well-formed UTF-8 sequence at the beginning (Unicode table 3-7); 0: there is none.
std::size_t utf8_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0), second = byte(1);
    if (first >= 0xC2 && first <= 0xDF) {
        return is_tail(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool is_short = first == 0xE0 && second < 0xA0;
        const bool is_surrogate = first == 0xED && second > 0x9F;
        return is_tail(1) && is_tail(2) && !is_short && !is_surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool is_short = first == 0xF0 && second < 0x90;
        const bool is_beyond = first == 0xF4 && second > 0x8F;
        return is_tail(1) && is_tail(2) && is_tail(3) && !is_short && !is_beyond ? 4 : 0;
    }
    return 0;
}

/// Four hexadecimal digits; nothing if they are not there.
std::optional<std::uint32_t> hex4(std::string_view text) {
    std::uint32_t value = 0;
    if (text.size() < 4) {
        return std::nullopt;
    }
    const auto [end, status] = std::from_chars(text.data(), text.data() + 4, value, 16);
    return status == std::errc() && end == text.data() + 4 ? std::optional(value) : std::nullopt;
}

/// A character that "\u" stands for, and how many bytes of the text that took.
struct Escaped {
    std::uint32_t character;
    std::size_t size;
};

/// `text` begins behind "\u". Nothing for U+0000 and for half a surrogate pair.
std::optional<Escaped> escaped_character(std::string_view text) {
    const auto first = hex4(text);
    if (!first || *first == 0 || (*first >= 0xDC00 && *first <= 0xDFFF)) {
        return std::nullopt;
    }
    if (*first < 0xD800 || *first > 0xDBFF) {
        return Escaped{*first, 4};
    }
    const auto second = text.substr(4, 2) == "\\u" ? hex4(text.substr(6)) : std::nullopt;
    if (!second || *second < 0xDC00 || *second > 0xDFFF) {
        return std::nullopt;
    }
    return Escaped{0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00), 10};
}

void append_utf8(std::string& out, std::uint32_t c) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | c >> 6);
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | c >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | c >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// What a backslash and this letter stand for; 0: nothing.
char plain_escape(char letter) {
    switch (letter) {
        case '"':
        case '\\':
        case '/':
            return letter;
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return 0;
    }
}

std::string decoded(std::string_view content) {
    std::string out;
    out.reserve(content.size());
    for (std::size_t at; (at = content.find('\\')) != std::string_view::npos;) {
        out += content.substr(0, at);
        content.remove_prefix(at + 2);
        if (const char plain = plain_escape(content.data()[-1]); plain != 0) {
            out += plain;
        } else if (const auto escaped = escaped_character(content)) {
            append_utf8(out, escaped->character);
            content.remove_prefix(escaped->size);
        }
    }
    return out += content;
}

}  // namespace

/// Goes through the text once.
struct FlatReader {
    using Kind = FlatJson::Kind;
    const char* const begin;
    const char* const end;
    std::vector<FlatJson::Node>& nodes;
    const char* at = begin;
    std::uint32_t used = 0;  ///< of nodes

    char peek() const { return at != end ? *at : '\0'; }
    bool take(char c) {
        if (at == end || *at != c) {
            return false;
        }
        ++at;
        return true;
    }
    void skip_space() {
        while (at != end && static_cast<unsigned char>(*at) <= ' ' &&
               (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
            ++at;
        }
    }
    std::string_view rest() const { return {at, static_cast<std::size_t>(end - at)}; }
    std::uint32_t place() const { return static_cast<std::uint32_t>(at - begin); }
    std::uint32_t open(Kind kind) {
        if (used == nodes.size()) {
            nodes.resize(std::max<std::size_t>(64, 2 * nodes.size()));
        }
        nodes[used].begin = place();
        nodes[used].kind = kind;
        return used++;
    }
    void close(std::uint32_t index) {
        nodes[index].end = place();
        nodes[index].next = used;
    }

    bool value(int depth) {
        if (depth > depth_max) {
            return false;
        }
        skip_space();
        switch (peek()) {
            case '{':
            case '[':
                return container(peek() == '{', depth);
            case '"':
                return string();
            case 't':
                return word("true", Kind::truth);
            case 'f':
                return word("false", Kind::untruth);
            case 'n':
                return word("null", Kind::null);
            default:
                return number();
        }
    }
    bool container(bool is_object, int depth) {
        const std::uint32_t index = open(is_object ? Kind::object : Kind::array);
        const char last = is_object ? '}' : ']';
        ++at;
        skip_space();
        if (!take(last)) {
            do {
                if ((is_object && !key()) || !value(depth + 1)) {
                    return false;
                }
                skip_space();
            } while (take(','));
            if (!take(last)) {
                return false;
            }
        }
        close(index);
        return true;
    }
    bool key() {
        skip_space();
        if (peek() != '"' || !string()) {
            return false;
        }
        skip_space();
        return take(':');
    }
    bool word(std::string_view expected, Kind kind) {
        const std::uint32_t index = open(kind);
        if (!rest().starts_with(expected)) {
            return false;
        }
        at += expected.size();
        close(index);
        return true;
    }
    bool string() {
        const std::uint32_t index = open(Kind::plain_string);
        for (++at;; ++at) {
            at = end_of_plain(at, end);
            if (take('"')) {
                close(index);
                return true;
            }
            std::size_t more = 0;
            if (peek() == '\\') {
                nodes[index].kind = Kind::escaped_string;
                more = escape();
            } else if (static_cast<unsigned char>(peek()) >= 0x80) {
                more = utf8_size(rest());
            }
            if (more == 0) {
                return false;
            }
            at += more - 1;
        }
    }
    /// The size of the escape here; 0: it is none.
    std::size_t escape() const {
        const std::string_view behind = rest().substr(1);
        if (behind.starts_with('u')) {
            const auto escaped = escaped_character(behind.substr(1));
            return escaped ? 2 + escaped->size : 0;
        }
        return !behind.empty() && plain_escape(behind[0]) != 0 ? 2 : 0;
    }
    /// How many there are here. Their value is right for at most integer_digits_max.
    std::size_t digits(std::uint64_t& value) {
        const char* const first = at;
        value = 0;
        for (; end - at >= 8 && are_eight_digits(at); at += 8) {
            value = value * 100'000'000 + eight_digits(at);
        }
        for (; at != end && is_digit(*at); ++at) {
            value = value * 10 + static_cast<std::uint64_t>(*at - '0');
        }
        return static_cast<std::size_t>(at - first);
    }
    bool has_digits() {
        std::uint64_t ignored = 0;
        return digits(ignored) != 0;
    }
    bool number() {
        const std::uint32_t index = open(Kind::integer);
        const bool is_negative = take('-');
        const char* const first = at;
        std::uint64_t value = 0;
        const std::size_t whole = digits(value);
        if (whole == 0 || (whole > 1 && *first == '0')) {
            return false;
        }
        if (const char c = peek(); c == '.' || c == 'e' || c == 'E') {
            return real(index);
        }
        close(index);
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
        nodes[index].integer = static_cast<std::int64_t>(is_negative ? 0 - value : value);
        return whole <= integer_digits_max && value <= most + (is_negative ? 1 : 0);
    }
    /// A number behind its integer part.
    bool real(std::uint32_t index) {
        nodes[index].kind = Kind::real;
        if (take('.') && !has_digits()) {
            return false;
        }
        const bool has_exponent = take('e') || take('E');
        if (has_exponent) {
            if (!take('-')) {
                (void)take('+');
            }
            if (!has_digits()) {
                return false;
            }
        }
        close(index);
        return (!has_exponent && place() - nodes[index].begin <= real_size_sure) || is_in_range(nodes[index]);
    }
    /// Of a real.
    bool is_in_range(const FlatJson::Node& node) const;
};

namespace {

/// A power of ten that the number is less than 10 times of; for telling the too large from the too small.
long magnitude(std::string_view text) {
    const std::size_t exponent_at = text.find_first_of("eE");
    const std::string_view mantissa = text.substr(0, exponent_at);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t leading = mantissa.find_first_of("123456789");
    if (leading == std::string_view::npos) {
        return std::numeric_limits<long>::min();  // zero
    }
    long exponent = 0;
    if (exponent_at != std::string_view::npos) {
        std::string_view digits = text.substr(exponent_at + 1);
        digits.remove_prefix(digits.front() == '+' ? 1 : 0);
        if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc()) {
            exponent =
                digits.front() == '-' ? std::numeric_limits<long>::min() / 2 : std::numeric_limits<long>::max() / 2;
        }
    }
    return exponent + (leading < point ? static_cast<long>(point - leading) - 1 : -static_cast<long>(leading - point));
}

/// The nearest double; nothing beyond the greatest. What is too small for a double is zero.
std::optional<double> to_double(std::string_view text) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc()) {
        return std::isinf(value) ? std::nullopt : std::optional(value);
    }
    return magnitude(text) > 0 ? std::nullopt : std::optional(text.front() == '-' ? -0. : 0.);
}

}  // namespace

bool FlatReader::is_in_range(const FlatJson::Node& node) const {
    return to_double({begin + node.begin, node.end - node.begin}).has_value();
}

FlatValue FlatJson::read(std::string_view text) {
    text_ = text;
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        return {};
    }
    FlatReader reader{text.data(), text.data() + text.size(), nodes_};
    if (!reader.value(1)) {
        return {};
    }
    reader.skip_space();
    return reader.at == reader.end ? FlatValue(this, 0, reader.used) : FlatValue();
}

// ---- queries ----

bool FlatValue::is_string() const {
    return is(FlatJson::Kind::plain_string) || is(FlatJson::Kind::escaped_string);
}

std::optional<std::string_view> FlatValue::plain() const {
    if (!is(FlatJson::Kind::plain_string)) {
        return std::nullopt;
    }
    return text().substr(1, text().size() - 2);
}

std::optional<std::string> FlatValue::string() const {
    if (const auto content = plain()) {
        return std::string(*content);
    }
    if (!is(FlatJson::Kind::escaped_string)) {
        return std::nullopt;
    }
    return decoded(text().substr(1, text().size() - 2));
}

std::optional<std::int64_t> FlatValue::integer() const {
    return is(FlatJson::Kind::integer) ? std::optional(in_->nodes_[index_].integer) : std::nullopt;
}

std::optional<double> FlatValue::number() const {
    if (const auto whole = integer()) {
        return static_cast<double>(*whole);
    }
    return is(FlatJson::Kind::real) ? to_double(text()) : std::nullopt;
}

std::optional<bool> FlatValue::boolean() const {
    const bool is_true = is(FlatJson::Kind::truth);
    return is_true || is(FlatJson::Kind::untruth) ? std::optional(is_true) : std::nullopt;
}

bool FlatValue::operator==(std::string_view content) const {
    if (!is(FlatJson::Kind::plain_string)) {
        return is(FlatJson::Kind::escaped_string) && string() == content;
    }
    const FlatJson::Node& node = in_->nodes_[index_];
    const std::size_t size = node.end - node.begin - 2;
    const char* const begin = in_->text_.data() + node.begin + 1;
    return size == content.size() &&
           (size == 0 || (*begin == content[0] && std::memcmp(begin, content.data(), size) == 0));
}

FlatValue FlatValue::operator[](std::string_view key) const {
    if (!is_object()) {
        return {};
    }
    const std::vector<FlatJson::Node>& nodes = in_->nodes_;
    const std::uint32_t end = nodes[index_].next;
    std::uint32_t found = 0;  // no value: there the document begins
    for (std::uint32_t name = index_ + 1; name < end; name = nodes[name + 1].next) {
        found = FlatValue(in_, name, end) == key ? name + 1 : found;
    }
    return found != 0 ? FlatValue(in_, found, end) : FlatValue();
}

FlatValue FlatValue::element(std::size_t index) const {
    if (!is_array()) {
        return {};
    }
    FlatValue at = first();
    for (; at && index > 0; --index) {
        at = at.next();
    }
    return at;
}

}  // namespace weir
