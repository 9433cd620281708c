// SPDX-License-Identifier: LGPL-3.0-only
// FlatJson beside jansson: the same texts are taken, and every value is the same. Kills: an overlong UTF-8 sequence
// taken, half a surrogate pair taken, the first of equal keys found, a level too many, an integer that wraps; of the
// writer: a short escape left out, a real with 15 digits, sorted keys.
#include <jansson.h>
#include <bit>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/text_writer.hpp"
#include "t/unit/draws.hpp"

using weir::FlatJson;
using weir::FlatValue;

namespace {

bool is_same(const json_t* tree, FlatValue value);

bool is_same_object(const json_t* tree, FlatValue object) {
    std::size_t found = 0;
    const char* key = nullptr;
    json_t* member = nullptr;
    json_object_foreach(const_cast<json_t*>(tree), key, member) {
        if (!is_same(member, object[key])) {
            return false;
        }
        ++found;
    }
    for (FlatValue name = object.first(); name; name = name.next().next()) {
        if (json_object_get(tree, name.string().value().c_str()) == nullptr) {
            return false;
        }
    }
    return found == json_object_size(tree);
}

bool is_same_array(const json_t* tree, FlatValue array) {
    std::size_t size = 0;
    for (FlatValue element = array.first(); element; element = element.next(), ++size) {
        if (!is_same(json_array_get(tree, size), element)) {
            return false;
        }
    }
    return size == json_array_size(tree) && !array.element(size);
}

bool is_same(const json_t* tree, FlatValue value) {
    switch (json_typeof(tree)) {
        case JSON_OBJECT:
            return value.is_object() && is_same_object(tree, value);
        case JSON_ARRAY:
            return value.is_array() && is_same_array(tree, value);
        case JSON_STRING:
            return value.is_string() &&
                   value.string() == std::string(json_string_value(tree), json_string_length(tree));
        case JSON_INTEGER:
            return value.integer() == json_integer_value(tree);
        case JSON_REAL:
            return !value.integer() && std::bit_cast<std::uint64_t>(value.number().value()) ==
                                           std::bit_cast<std::uint64_t>(json_real_value(tree));
        case JSON_TRUE:
        case JSON_FALSE:
            return value.boolean() == json_is_true(tree);
        default:
            return value.text() == "null";
    }
}

/// Whether the text writer writes a tree as jansson does.
bool is_written_alike(const json_t* tree) {
    std::string text;
    weir::append_json(text, tree);
    return text == weir::Json::ref(tree).dump();
}

/// Whether both say the same of a text, and the writer writes it alike. A byte 0 is no JSON; jansson overlooks it
/// behind a number.
bool agrees(const std::string& text) {
    if (text.find('\0') != std::string::npos) {
        return !FlatJson().read(text);
    }
    json_t* tree = json_loadb(text.data(), text.size(), JSON_DECODE_ANY, nullptr);
    FlatJson flat;
    const FlatValue value = flat.read(text);
    const bool is_good = tree ? value && is_same(tree, value) && is_written_alike(tree) : !value;
    json_decref(tree);
    return is_good;
}

/// Pieces that make texts near to JSON, and what is at the edges of what is allowed.
const std::vector<std::string>& pieces() {
    static const std::vector<std::string> all = {"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "\\",
                                                 " ",
                                                 "\n",
                                                 "\t",
                                                 "\"a\"",
                                                 "\"a\":1",
                                                 "\"b\":",
                                                 "true",
                                                 "false",
                                                 "null",
                                                 "nul",
                                                 "0",
                                                 "-0",
                                                 "-",
                                                 "1",
                                                 "01",
                                                 "1.5",
                                                 "1.",
                                                 ".5",
                                                 "-1.5e3",
                                                 "1e",
                                                 "1e+",
                                                 "1E-2",
                                                 "1e400",
                                                 "1e-400",
                                                 "4e-324",
                                                 "-1e999",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "-9223372036854775808",
                                                 "-9223372036854775809",
                                                 "0e999",
                                                 "0.1",
                                                 "123456789012345678901234567890.5",
                                                 "1e308",
                                                 "1.8e308",
                                                 "0.000001e314",
                                                 "1e99999999999999999999",
                                                 "1e-99999999999999999999",
                                                 "\\u0041",
                                                 "\\u0000",
                                                 "\\ud83d\\ude00",
                                                 "\\ud83d",
                                                 "\\ude00",
                                                 "\\ud83d\\u0041",
                                                 "\\u12",
                                                 "\\/",
                                                 "\\b",
                                                 "\\x",
                                                 "\x7f",
                                                 "\x1f",
                                                 "\xc3\xa4",
                                                 "\xc0\x80",
                                                 "\xe2\x82\xac",
                                                 "\xe0\x80\x80",
                                                 "\xed\xa0\x80",
                                                 "\xf0\x9f\x98\x80",
                                                 "\xf0\x80\x80\x80",
                                                 "\xf4\x90\x80\x80",
                                                 "\xf5",
                                                 "\x80",
                                                 "\xe2\x82",
                                                 std::string(1, '\0')};
    return all;
}

std::string any_pieces() {
    std::string text;
    for (std::size_t count = draw::length(); count > 0; count--) {
        text += draw::element_of(pieces());
    }
    return text;
}

std::string leaf() {
    switch (draw::in_range(0, 5)) {
        case 0:
            return std::to_string(draw::arbitrary<std::int64_t>());
        case 1: {
            char text[40];
            std::snprintf(text, sizeof text, "%.17g", draw::arbitrary<double>());
            return text;
        }
        case 2:
            return "\"" + any_pieces() + "\"";
        case 3:
            return "\"" + draw::arbitrary<std::string>() + "\"";
        default:
            return draw::element<std::string>("true", "false", "null", "\"\"", "{}", "[]");
    }
}

/// JSON as it should be, of about `size` values.
std::string document(int size) {
    if (size <= 1) {
        return leaf();
    }
    const std::string a = document(size / 3);
    const std::string b = document(size / 3);
    const std::string c = document(size / 3);
    return draw::arbitrary<bool>() ? "[" + a + "," + b + " , " + c + "]"
                                   : R"({"a":)" + a + R"(, "b" :)" + b + R"(,"a":)" + c + "}";
}

}  // namespace

TEST_CASE("flat json: takes what jansson takes, and says the same of it") {
    draw::property("a document", [] {
        const std::string text = document(draw::in_range(1, 30));
        RC_ASSERT(agrees(text));
    });
    draw::property("pieces of one", [] {
        const std::string text = any_pieces();
        RC_ASSERT(agrees(text));
    });
}

TEST_CASE("flat json: a document with one place changed is accepted or refused as by jansson") {
    draw::property("changed", [] {
        std::string text = document(draw::in_range(1, 30));
        const auto at = draw::in_range<std::size_t>(0, text.size());
        text.replace(at, draw::in_range<std::size_t>(0, 3), draw::element_of(pieces()));
        RC_ASSERT(agrees(text));
    });
}

TEST_CASE("flat json: the edges") {
    for (const std::string& piece : pieces()) {
        INFO(piece);
        CHECK(agrees(piece));
        CHECK(agrees("\"" + piece + "\""));
        CHECK(agrees("[" + piece + "]"));
        CHECK(agrees("{\"" + piece + "\":0,\"A\":" + piece + "}"));
    }
    CHECK(agrees(""));
    for (const std::size_t depth : {2047U, 2048U, 2049U, 100000U}) {
        CHECK(agrees(std::string(depth, '[') + std::string(depth, ']')));
        CHECK(agrees(std::string(depth - 1, '[') + "1" + std::string(depth - 1, ']')));
    }
}

// Mutant: libfairshare/base/flat_json.cpp: whole <= integer_digits_max && => true &&
// Mutant: libfairshare/base/flat_json.cpp: && ((word + sixes) & upper) == threes => && true
// Mutant: libfairshare/base/flat_json.cpp: most + (is_negative ? 1 : 0) => most
// Mutant: libfairshare/base/flat_json.cpp: (whole > 1 && *first == '0') => false
TEST_CASE("flat json: integers of each length, and what is almost one") {
    for (std::size_t length = 1; length <= 24; ++length) {
        for (const char first : std::string("123456789")) {
            std::string digits(length, first);
            for (std::size_t i = 1; i < length; ++i) {
                digits[i] = static_cast<char>('0' + (static_cast<std::size_t>(first) * 7 + i * 3) % 10);
            }
            INFO(digits);
            CHECK(agrees(digits));
            CHECK(agrees("-" + digits));
            CHECK(agrees("[" + digits + "," + digits + "]"));
            CHECK(agrees("0" + digits));
            CHECK(agrees(digits + ".5"));
            CHECK(agrees(digits + "e-3"));
            for (const char other : std::string("/:;?@pz.-+ \x80\xb5", 14)) {
                std::string changed = digits;
                changed[length / 2] = other;
                CHECK(agrees(changed));
            }
        }
    }
    for (const char* edge : {"9223372036854775807", "9223372036854775808", "9223372036854775809", "9999999999999999999",
                             "8999999999999999999", "18446744073709551615", "18446744073709551616", "0", "-0"}) {
        INFO(edge);
        CHECK(agrees(edge));
        CHECK(agrees(std::string("-") + edge));
    }
}

TEST_CASE("flat json: nothing is asked of nothing") {
    FlatJson flat;
    const FlatValue value = flat.read(R"({"a":{"b":[1,"x\n",2.5]},"c":true})");
    CHECK(value["a"]["b"].element(1).string() == "x\n");
    CHECK_FALSE(value["a"]["b"].element(1).plain());
    CHECK(value["a"].text() == R"({"b":[1,"x\n",2.5]})");
    CHECK(value["a"]["b"].element(0).number() == 1.);
    CHECK_FALSE(value["a"]["none"]["x"].element(3).first().next());
    CHECK_FALSE(value["c"]["x"]);
    CHECK(value["a"]["b"].element(1) == "x\n");
    CHECK_FALSE(value["a"]["b"].element(1) == "x");
    CHECK_FALSE(value["c"] == "true");
    CHECK_FALSE(FlatValue() == "");
    CHECK(flat.read(R"("")") == "");
    CHECK_FALSE(flat.read(R"("ab")") == "ac");
    CHECK(FlatValue().text().empty());
    CHECK_FALSE(flat.read("{} x"));
}
