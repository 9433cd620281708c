// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/wait_status.hpp"

#include <sys/wait.h>

#include <catch2/catch.hpp>

using weir::ending_signal;
using weir::status_of_shell;

TEST_CASE("wait status: a signal stands in the status, or in the exit code of a shell") {
    CHECK(ending_signal(9) == 9);
    CHECK(ending_signal(W_EXITCODE(137, 0)) == 9);
    CHECK(ending_signal(W_EXITCODE(128 + 64, 0)) == 64);
    CHECK_FALSE(ending_signal(0));
    CHECK_FALSE(ending_signal(W_EXITCODE(1, 0)));
    CHECK_FALSE(ending_signal(W_EXITCODE(128, 0)));
    CHECK_FALSE(ending_signal(W_EXITCODE(255, 0)));
}

TEST_CASE("wait status: a job shell has 128 and the signal of its task, or its exit code") {
    CHECK(status_of_shell(15) == W_EXITCODE(143, 0));
    CHECK(status_of_shell(9 | WCOREFLAG) == W_EXITCODE(137, 0));
    CHECK(status_of_shell(W_EXITCODE(3, 0)) == W_EXITCODE(3, 0));
    CHECK(status_of_shell(0) == 0);
}
