// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

TEST_CASE("accounts view: users whom only @* admits are told apart: nobody can name them before their first job") {
    auto s = ready_service();
    put_tree(*s, "\"a\" = 1\n\"a/@alice\" = 1\n\"b\" = 1\n\"b/@*\" = 1\n", 10);
    s->apply(submitted(1, 1, bob));
    s->apply(eligible(1, 1));
    const AccountsView view = accounts(*s);
    REQUIRE(view.users.size() == 2);
    CHECK(view.users[0].name == "alice");
    CHECK(view.users[0].has_line);
    CHECK(view.users[1].name == "bob");
    CHECK_FALSE(view.users[1].has_line);
}

// Mutant: modules/job-priority/sends/accounts_view.cpp: !open.empty() => false
TEST_CASE("accounts view: the default account of a user without a line is the one that would pay, the first with @*") {
    auto s = ready_service();
    put_tree(*s, "\"a\" = 1\n\"a/b\" = 1\n\"a/b/@*\" = 1\n\"c\" = 1\n\"c/@*\" = 1\n", 10);
    CHECK(accounts(*s).open_default == "a/b");
    s->apply(submitted(1, 1, bob));
    s->apply(eligible(1, 1));
    s->apply(started(1, 10, 1));
    CHECK(s->accounting().tree().path(s->book().find(1)->payer) == "a/b/@bob");
    put_tree(*s, "\"c\" = 1\n\"c/@*\" = 1\n\"a\" = 1\n\"a/b\" = 1\n\"a/b/@*\" = 1\n", 20);
    CHECK(accounts(*s).open_default == "c");
}
