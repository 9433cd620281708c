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
    CHECK(all.find("mine")->kind == Attributes::Kind::runtime);
    CHECK(all.remove("mine"));
    CHECK_FALSE(all.get("mine"));
    CHECK(all.remove("mine").error().code == std::errc::no_such_file_or_directory);
}

TEST_CASE("attributes: a runtime attribute of the broker can be changed") {
    Attributes all;
    all.set("broker.module-nopanic", "0", Attributes::Kind::runtime);
    CHECK(all.change("broker.module-nopanic", "1"));
    CHECK(all.get("broker.module-nopanic") == "1");
}

TEST_CASE("attributes: a severity is -1 to 7, whoever sets it") {
    Attributes all;
    all.set("log-stderr-level", "3", Attributes::Kind::severity);
    CHECK(all.severity("log-stderr-level") == 3);
    CHECK(all.change("log-stderr-level", "-1"));
    CHECK(all.severity("log-stderr-level") == -1);
    for (const char* bad : {"8", "-2", "", "loud", "3 ", "33"}) {
        CHECK(all.change("log-stderr-level", bad).error().code == std::errc::invalid_argument);
    }
    CHECK(all.change("log-stderr-level", "7"));
    CHECK(all.severity("log-stderr-level") == 7);
    CHECK(all.remove("log-stderr-level").error().code == std::errc::operation_not_permitted);
    CHECK(all.severity("no-such-level") == -1);
}
