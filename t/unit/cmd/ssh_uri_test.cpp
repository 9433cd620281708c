// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/ssh_uri.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

TEST_CASE("ssh uri: host and socket, without user, port and query") {
    const auto plain = parse_ssh_uri("ssh://node7/tmp/flux-1/local-0");
    REQUIRE(plain);
    CHECK((plain->host == "node7" && plain->path == "/tmp/flux-1/local-0"));
    const auto full = parse_ssh_uri("ssh://al@node7.site.org:22/run/local-0?FLUX_SSH=x");
    REQUIRE(full);
    CHECK((full->host == "node7.site.org" && full->path == "/run/local-0"));
    for (const char* other : {"local:///run/local-0", "ssh://node7", "ssh://node7/", "ssh:///run/local-0", ""}) {
        CAPTURE(other);
        CHECK_FALSE(parse_ssh_uri(other));
    }
}

TEST_CASE("ssh uri: a host is this one by its full name, or by its first label where one has no domain") {
    CHECK(is_same_host("node7", "node7"));
    CHECK(is_same_host("node7", "node7.site.org"));
    CHECK(is_same_host("node7.site.org", "node7"));
    CHECK(is_same_host("localhost", "node7"));
    CHECK_FALSE(is_same_host("node7.site.org", "node7.other.org"));
    CHECK_FALSE(is_same_host("node71", "node7"));
}
