// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/keyed_hash.hpp"

#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("keyed hash: the reference implementation's result for the bytes 0 to 15 under the key of the same bytes") {
    const HashKey key{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    CHECK(keyed_hash(key, key.first, key.second) == 0x3f2acc7f57c29bdbULL);
}

TEST_CASE("keyed hash: another key, another number and another order give another result") {
    const std::uint64_t hash = keyed_hash({1, 2}, 3, 4);
    CHECK(hash != keyed_hash({2, 2}, 3, 4));
    CHECK(hash != keyed_hash({1, 1}, 3, 4));
    CHECK(hash != keyed_hash({1, 2}, 4, 3));
}
