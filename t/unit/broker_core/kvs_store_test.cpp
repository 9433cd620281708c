// SPDX-License-Identifier: LGPL-3.0-only
#include "broker/services/kvs_store.hpp"

#include <catch2/catch.hpp>

using weir::broker::KvsStore;

TEST_CASE("kvs store: values are put, appended and looked up") {
    KvsStore store;
    REQUIRE(store.put("job.1.eventlog", "a", true));
    REQUIRE(store.put("job.1.eventlog", "b", true));
    CHECK(*store.lookup("job.1.eventlog") == "ab");
    REQUIRE(store.put("job.1.eventlog", "c", false));
    CHECK(*store.lookup(".job..1.eventlog.") == "c");
    CHECK(store.bytes() == 1);
}

TEST_CASE("kvs store: errors tell directories from values from nothing") {
    KvsStore store;
    REQUIRE(store.put("a.b", "x", false));
    CHECK(store.lookup("a").error().code == std::errc::is_a_directory);
    CHECK(store.lookup("").error().code == std::errc::is_a_directory);
    CHECK(store.lookup("a.c").error().code == std::errc::no_such_file_or_directory);
    CHECK(store.put("a", "x", true).error().code == std::errc::is_a_directory);
    CHECK(store.put("", "x", false).error().code == std::errc::invalid_argument);
    CHECK(store.list("a.b").error().code == std::errc::not_a_directory);
    CHECK(store.list("z").error().code == std::errc::no_such_file_or_directory);
}

TEST_CASE("kvs store: a value takes the place of a directory, and a directory that of a value") {
    KvsStore store;
    REQUIRE(store.put("a.b.c", "xyz", false));
    REQUIRE(store.put("a.b", "v", false));
    CHECK(*store.lookup("a.b") == "v");
    CHECK(store.size() == 1);
    REQUIRE(store.put("a.b.d.e", "w", true));
    CHECK(store.lookup("a.b").error().code == std::errc::is_a_directory);
    CHECK(store.list("a.b")->size() == 1);
    REQUIRE(store.make_link("a.b.d.e.l", {"x", ""}));
    CHECK(store.list("a.b.d.e")->size() == 1);
    REQUIRE(store.put("a.b.d.e.v", "w", false));
    REQUIRE(store.make_dir("a.b.d.e.v.m"));
    CHECK(store.list("a.b.d.e.v")->at(0).is_dir);
    CHECK(store.bytes() == 0);
}

TEST_CASE("kvs store: a directory is made empty, and is there until it is unlinked") {
    KvsStore store;
    REQUIRE(store.put("a.d.x", "x", false));
    REQUIRE(store.make_dir("a.d"));
    CHECK(store.lookup("a.d").error().code == std::errc::is_a_directory);
    CHECK(store.list("a.d")->empty());
    CHECK(store.bytes() == 0);
    REQUIRE(store.put("a.d.y", "y", false));
    REQUIRE(store.list("a.d")->size() == 1);
    CHECK(store.list("a")->at(0).is_dir);
    store.unlink("a.d.y");
    CHECK(store.list("a.d")->empty());
    store.unlink("a.d");
    CHECK(store.lookup("a").error().code == std::errc::no_such_file_or_directory);
    CHECK(store.make_dir("").error().code == std::errc::invalid_argument);
}

TEST_CASE("kvs store: a link is a step on the way of the keys behind it, and of itself if that is asked") {
    KvsStore store;
    REQUIRE(store.make_link("a.l", {"b", "other"}));
    CHECK(store.step("a.l.c.d", false)->rest == ".c.d");
    CHECK(store.step("a.l.c.d", false)->link.space == "other");
    CHECK_FALSE(store.step("a.l", false));
    CHECK(store.step("a.l", true)->link.target == "b");
    CHECK_FALSE(store.step("a.k.l", true));
    REQUIRE(store.list("a")->size() == 1);
    CHECK(store.list("a")->at(0).link->target == "b");
    CHECK_FALSE(store.list("")->at(0).link);
    REQUIRE(store.put("a.l", "x", false));
    CHECK_FALSE(store.step("a.l", true));
    CHECK(store.make_link(".", {"b", ""}).error().code == std::errc::invalid_argument);
}

TEST_CASE("kvs store: unlinking a directory takes what is in it and nothing else") {
    KvsStore store;
    for (const char* key : {"job.1.R", "job.1.eventlog", "job.10.R", "job.1x"}) {
        REQUIRE(store.put(key, "v", false));
    }
    store.unlink("job.1");
    CHECK_FALSE(store.lookup("job.1.R"));
    CHECK_FALSE(store.lookup("job.1.eventlog"));
    CHECK(store.lookup("job.10.R"));
    CHECK(store.lookup("job.1x"));
    CHECK(store.size() == 2);
    CHECK(store.bytes() == 2);
}

TEST_CASE("kvs store: a directory lists each entry once") {
    KvsStore store;
    for (const char* key : {"d.b.x", "d.b.y", "d.a", "d.b-c", "e"}) {
        REQUIRE(store.put(key, "v", false));
    }
    const auto entries = store.list("d");
    REQUIRE(entries);
    REQUIRE(entries->size() == 3);
    CHECK((*entries)[0].name == "a");
    CHECK_FALSE((*entries)[0].is_dir);
    CHECK((*entries)[1].name == "b-c");
    CHECK((*entries)[2].name == "b");
    CHECK((*entries)[2].is_dir);
    CHECK(store.list("")->size() == 2);
}
