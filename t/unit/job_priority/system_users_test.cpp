// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/module/system_users.hpp"

using namespace weir;
using namespace weir::priority;

TEST_CASE("system users: the buffer grows until the answer fits") {
    std::size_t got = 0;
    const Status asked = with_buffer("getgrgid_r 1", [&](char*, std::size_t size) {
        got = size;
        return size < 1'000'000 ? ERANGE : 0;  // a group of 100,000 members
    });
    CHECK(asked);
    CHECK(got >= 1'000'000);
}

TEST_CASE("system users: an answer that never fits is an error, not nobody") {
    const Status asked = with_buffer("getgrgid_r 1", [](char*, std::size_t) { return ERANGE; });
    REQUIRE_FALSE(asked);
    CHECK(asked.error().message.find("getgrgid_r 1: ") == 0);
}

TEST_CASE("system users: no such entry is an answer, a failure is none, an interruption is neither") {
    for (const int none : {0, ENOENT, ESRCH, EBADF, EPERM}) {
        CHECK(with_buffer("x", [&](char*, std::size_t) { return none; }));
    }
    for (const int failure : {EIO, EMFILE, ENFILE, ENOMEM, EAGAIN}) {
        const Status asked = with_buffer("x", [&](char*, std::size_t) { return failure; });
        REQUIRE_FALSE(asked);
        CHECK(asked.error().code == static_cast<std::errc>(failure));
    }
    int calls = 0;
    CHECK(with_buffer("x", [&](char*, std::size_t) { return ++calls < 3 ? EINTR : 0; }));
    CHECK(calls == 3);
}
