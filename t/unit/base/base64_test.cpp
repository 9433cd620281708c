// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/base64.hpp"

#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("base64: the examples of RFC 4648") {
    const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                            {"f", "Zg=="},
                                                            {"fo", "Zm8="},
                                                            {"foo", "Zm9v"},
                                                            {"foob", "Zm9vYg=="},
                                                            {"fooba", "Zm9vYmE="},
                                                            {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : examples) {
        CHECK(base64_encode(bytes) == text);
        CHECK(*base64_decode(text) == bytes);
    }
    CHECK(base64_encode(std::string("\xff\xfe\x00", 3)) == "//4A");
}

TEST_CASE("base64: what is none is refused") {
    for (const char* text : {"Z", "Zg=", "Z*==", "Zm9v\n", "====", "Z===", "Zg=a", "Zg==Zg==", "Z!==", "\xff\xff=="}) {
        CAPTURE(text);
        CHECK_FALSE(base64_decode(text));
    }
    CHECK(base64_decode("Zm9!").error().message == "base64: unexpected character at offset 3");
}
