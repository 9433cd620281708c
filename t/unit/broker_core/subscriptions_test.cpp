// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/subscriptions.hpp"

#include <catch2/catch.hpp>

using weir::broker::Subscriptions;

TEST_CASE("subscriptions: a prefix matches as plain text") {
    Subscriptions subs;
    subs.add("foo");
    CHECK(subs.match("foo"));
    CHECK(subs.match("foobar"));
    CHECK(subs.match("foo.bar"));
    CHECK_FALSE(subs.match("fo"));
    CHECK_FALSE(subs.match("barfoo"));
}

TEST_CASE("subscriptions: the empty prefix matches all") {
    Subscriptions subs;
    CHECK_FALSE(subs.match("x"));
    subs.add("");
    CHECK(subs.match("x"));
}

TEST_CASE("subscriptions: two need two to be taken back") {
    Subscriptions subs;
    subs.add("a");
    subs.add("a");
    CHECK(subs.remove("a"));
    CHECK(subs.match("a"));
    CHECK(subs.remove("a"));
    CHECK_FALSE(subs.match("a"));
    CHECK_FALSE(subs.remove("a"));
}
