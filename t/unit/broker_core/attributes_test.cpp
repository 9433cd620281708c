// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/attributes.hpp"

#include <catch2/catch.hpp>

using weir::broker::Attributes;

TEST_CASE("attributes: what the broker fixed, clients can neither change nor remove") {
    Attributes all;
    all.set("rank", "0");
    CHECK(all.change("rank", "1").error().code == std::errc::operation_not_permitted);
    CHECK(all.remove("rank").error().code == std::errc::operation_not_permitted);
    CHECK(all.get("rank") == "0");
}

TEST_CASE("attributes: clients add, change and remove their own") {
    Attributes all;
    CHECK(all.change("mine", "a"));
    CHECK(all.change("mine", "b"));
    CHECK(all.get("mine") == "b");
    CHECK(all.find("mine")->kind == Attributes::Kind::RUNTIME);
    CHECK(all.remove("mine"));
    CHECK_FALSE(all.get("mine"));
    CHECK(all.remove("mine").error().code == std::errc::no_such_file_or_directory);
}

TEST_CASE("attributes: a runtime attribute of the broker can be changed") {
    Attributes all;
    all.set("broker.module-nopanic", "0", Attributes::Kind::RUNTIME);
    CHECK(all.change("broker.module-nopanic", "1"));
    CHECK(all.get("broker.module-nopanic") == "1");
}
