// SPDX-License-Identifier: LGPL-3.0-only
// Dependencies in words.
#include "cmd/common/dependencies.hpp"

#include <catch2/catch.hpp>

#include "cmd/common/reader.hpp"

using namespace weir;
using namespace weir::cmd;

TEST_CASE("dependencies: each kind in words, what is not known as it stands") {
    const auto text = [](const std::vector<std::string>& all) { return text_at(dependency_reason(all).get(), "text"); };
    CHECK(text({"after-start=f2X"}) == "waits until f2X has started");
    CHECK(text({"after-failure=f2X"}) == "waits until f2X has failed");
    CHECK(text({"singleton"}) == "waits until no other job of its user and name is active");
    CHECK(text({"licence=3"}) == "waits for \"licence=3\"");
    CHECK(text({"after-success=f2X", "begin-time=100.5", "after"}) ==
          "waits until f2X has succeeded, for its begin time and for \"after\"");
}

TEST_CASE("dependencies: the reason is the begin time where nothing else is waited for; no dependencies, no reason") {
    const Json begin = dependency_reason({"begin-time=100.5"});
    CHECK(text_at(begin.get(), "reason") == "begin-time");
    CHECK(number_at(begin.get(), "not_before") == 100.5);
    const Json both = dependency_reason({"begin-time=100.5", "after-start=f2X"});
    CHECK(text_at(both.get(), "reason") == "dependencies");
    CHECK(number_at(both.get(), "not_before") == 100.5);
    CHECK_FALSE(dependency_reason({}));
    CHECK(text_at(dependency_reason({"begin-time=soon"}).get(), "reason") == "dependencies");
}
