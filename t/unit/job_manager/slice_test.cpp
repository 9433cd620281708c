// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/job-manager/tables/slice.hpp"

#include <catch2/catch.hpp>

using weir::broker::jobs::slice_positions;
using Positions = std::vector<std::size_t>;

TEST_CASE("slice: as Python has it") {
    CHECK(slice_positions("[:1]", 3) == Positions{0});
    CHECK(slice_positions("[:]", 3) == Positions{0, 1, 2});
    CHECK(slice_positions("[::]", 2) == Positions{0, 1});
    CHECK(slice_positions("[-2:]", 3) == Positions{1, 2});
    CHECK(slice_positions("[1:-1]", 3) == Positions{1});
    CHECK(slice_positions("[::-1]", 3) == Positions{2, 1, 0});
    CHECK(slice_positions("[::2]", 4) == Positions{0, 2});
    CHECK(slice_positions("[5:]", 3) == Positions{});
    CHECK(slice_positions("[-9:9]", 2) == Positions{0, 1});
    CHECK(slice_positions("[:1]", 0) == Positions{});
    CHECK(slice_positions("[2000000000::2000000000]", 3) == Positions{});
}

TEST_CASE("slice: what is none is refused") {
    for (const char* text : {"", "[]", "[1]", ":", "[:x]", "[1:2:0]", "[1:2:3:4]", "[99999999999:]", "[a:b"}) {
        CHECK_FALSE(slice_positions(text, 3));
    }
}
