// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/core/service_table.hpp"

#include <catch2/catch.hpp>

using namespace weir::broker;

TEST_CASE("service table: a topic's first part is its service") {
    CHECK(service_of("job-manager.jprio.update") == "job-manager");
    CHECK(service_of("ping") == "ping");
    CHECK(service_of("").empty());
}

TEST_CASE("service table: a name has one owner") {
    ServiceTable table;
    CHECK(table.add("sched", "a"));
    CHECK(table.add("sched", "b").error().code == std::errc::file_exists);
    CHECK(table.find("sched") == "a");
    CHECK(table.remove("sched", "b").error().code == std::errc::invalid_argument);
    CHECK(table.remove("sched", "a"));
    CHECK(table.remove("sched", "a").error().code == std::errc::no_such_file_or_directory);
    CHECK(table.find("sched").empty());
}

TEST_CASE("service table: empty names and names with a dot are refused") {
    ServiceTable table;
    CHECK(table.add("", "a").error().code == std::errc::invalid_argument);
    CHECK(table.add("a.b", "a").error().code == std::errc::invalid_argument);
}

TEST_CASE("service table: an owner's names go together") {
    ServiceTable table;
    REQUIRE(table.add("b", "x"));
    REQUIRE(table.add("a", "x"));
    REQUIRE(table.add("c", "y"));
    CHECK(table.names("x") == std::vector<std::string>{"a", "b"});
    table.remove_all("x");
    CHECK(table.names("x").empty());
    CHECK(table.find("c") == "y");
}
