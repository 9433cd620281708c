// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/escaped_text.hpp"
#include "t/unit/draws.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace std::string_view_literals;

TEST_CASE("escaped: text stays, control characters and bytes that are not UTF-8 are named") {
    CHECK(escaped("ƒ1 Müller 12") == "ƒ1 Müller 12");
    CHECK(escaped("\x1b[31m\0\n\x7f"sv) == "\\x1b[31m\\x00\\x0a\\x7f");
    CHECK(escaped("\xff\xc3") == "\\xff\\xc3");
    CHECK(escaped("\xc2\x9b") == "\\xc2\\x9b");           // CSI as one character
    CHECK(escaped("\xc0\x9b") == "\\xc0\\x9b");           // ESC in too many bytes
    CHECK(escaped("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");  // the same
    CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a UTF-16 pair
    CHECK(escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(escaped("\xf0\x9f\x99\x82") == "\xf0\x9f\x99\x82");
}

TEST_CASE("escaped: what is too long is cut before a character, and said") {
    CHECK(escaped("12345", 5) == "12345");
    CHECK(escaped("123456", 5) == "12345...");
    CHECK(escaped("1234ü", 5) == "1234...");
    CHECK(escaped("", 0).empty());
}

// Kills: a byte behind a character that is cut by the end of the text.
TEST_CASE("escaped: no byte of any text reaches a terminal as a control character") {
    draw::property("printable", [] {
        const auto bytes = draw::bytes(draw::length());
        const std::string text = escaped(bytes, 60);
        RC_ASSERT(text.size() <= 4 * 60 + 3);
        RC_ASSERT(escaped(text, text.size()) == text);
        for (const char c : text) {
            RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
            RC_ASSERT(c != 0x7f);
        }
    });
}
