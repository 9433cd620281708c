// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/memory_size.hpp"

#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("memory: what people write") {
    CHECK(*parse_mib("4GiB") == 4096);
    CHECK(*parse_mib("512M") == 512);
    CHECK(encode_mib(4096) == "4GiB");
    CHECK(encode_mib(1536) == "1536MiB");
    for (const char* text : {"", "4", "0GiB", "-1GiB", "1.5GiB", "4 GiB", "4GB", "99999999TiB"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_mib(text).has_value());
    }
}
