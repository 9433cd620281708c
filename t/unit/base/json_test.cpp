// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/json/json.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace weir;

TEST_CASE("json: values are escaped on the way out and unescaped on the way in") {
    const std::string awkward = "a\"b\\c\nd\x01 \xc3\xa4";
    Json object = Json::object();
    object.set("text", awkward).set("count", 3U).set("part", 0.5).set("is_on", true).set("word", "x");
    CHECK(object.dump() == R"({"text":"a\"b\\c\nd\u0001 ä","count":3,"part":0.5,"is_on":true,"word":"x"})");
    const auto again = Json::parse(object.dump());
    REQUIRE(again);
    CHECK(again->string_at("text") == awkward);
    CHECK(again->integer_at("count") == 3);
    CHECK(again->number_at("count") == 3.);
    CHECK(again->boolean_at("is_on") == true);
}

TEST_CASE("json: what JSON cannot say does not lose the document") {
    Json object = Json::object();
    object
        .set("name",
             "\xff"
             "a")
        .set("t", std::numeric_limits<double>::infinity())
        .set("nothing", Json());
    CHECK(object.dump() == R"({"name":"?a","t":null})");
}

TEST_CASE("json: a member of another type is not there") {
    const Json object = *Json::parse(R"({"a":"1","b":1.5,"c":null})");
    CHECK_FALSE(object.integer_at("a"));
    CHECK_FALSE(object.integer_at("b"));
    CHECK_FALSE(object.string_at("c"));
    CHECK_FALSE(object.boolean_at("missing"));
    CHECK_FALSE(object.at("missing"));
    CHECK_FALSE(Json().at("a").string_at("b"));
}

TEST_CASE("json: of equal keys the last counts in messages, and people are told") {
    const auto refused = Json::parse("{\"a\":1,\n\"a\":2}");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("2:") == 0);
    CHECK(Json::parse(R"({"a":1,"a":2})", SameKeys::last_counts)->integer_at("a") == 2);
    CHECK(Json::parse_payload(R"({"a":1,"a":2})").integer_at("a") == 2);
    CHECK_FALSE(Json::parse_payload(""));
}

TEST_CASE("json: NUL characters are kept on the way out, and on the way in where they are expected") {
    const std::string text("a\0b\0", 4);
    Json object = Json::object();
    object.set("text", text);
    CHECK(object.dump() == R"({"text":"a\u0000b\u0000"})");
    CHECK(Json::parse_with_nuls(object.dump())->string_at("text") == text);
    CHECK_FALSE(Json::parse_with_nuls(R"({"a":1,"a":2})"));
    CHECK_FALSE(Json::parse(object.dump()));
}

TEST_CASE("json: a shared value is changed for both, a copy for one") {
    Json first = Json::object();
    Json shared = first.share();
    Json copy = first.deep_copy();
    shared.set("a", 1);
    CHECK(first.integer_at("a") == 1);
    CHECK_FALSE(copy.at("a"));
}

TEST_CASE("json: paths make the objects on their way, and nothing of another value") {
    Json object = Json::object();
    REQUIRE(write_path(object.get(), "a.b.c", Json::integer(1)));
    CHECK(json_integer_value(read_path(object.get(), "a.b.c")) == 1);
    CHECK(read_path(object.get(), "a.x.c") == nullptr);
    CHECK_FALSE(write_path(object.get(), "a.b.c.d", Json::integer(1)));
    CHECK_FALSE(write_path(object.get(), "", Json::integer(1)));
}
