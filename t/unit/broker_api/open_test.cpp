// SPDX-License-Identifier: LGPL-3.0-only
// flux_open: what it says when there is nothing to open.
#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace {
std::string refusal(const char* uri, int flags = 0) {
    flux_error_t error;
    flux_t* h = flux_open_ex(uri, flags, &error);
    REQUIRE(h == nullptr);
    return error.text;
}
}  // namespace

TEST_CASE("flux_open: refusals name what is wrong") {
    setenv("FLUX_LOCAL_CONNECTOR_RETRY_COUNT", "0", 1);
    unsetenv("FLUX_URI");
    CHECK(refusal(nullptr) == "FLUX_URI is not set: give a URI or run inside an instance");
    CHECK(refusal("tcp://x") == "Unable to find connector name 'tcp'; use local://PATH");
    CHECK(refusal("local:///nonexistent/local-0") == "broker socket /nonexistent/local-0 was not found");
    CHECK(errno == ENOENT);
    CHECK(refusal("../oops") == "../oops: invalid URI path element 'oops'");
    CHECK(refusal("/x") == "/x: invalid URI path element 'x'");
    CHECK(refusal("local:///x", 0x1000) == "invalid flags specified");
    CHECK(errno == EINVAL);
    setenv("FLUX_LOCAL_CONNECTOR_RETRY_COUNT", "many", 1);
    CHECK(refusal("local:///x") == "FLUX_LOCAL_CONNECTOR_RETRY_COUNT is not a count");
    unsetenv("FLUX_LOCAL_CONNECTOR_RETRY_COUNT");
}
