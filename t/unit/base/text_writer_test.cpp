// SPDX-License-Identifier: LGPL-3.0-only
// JSON text that is written without a tree reads back as the values that went in.
#include "libfairshare/base/json/text_writer.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>

using namespace weir;

TEST_CASE("json text: keys and values are escaped, spliced JSON is left as it is") {
    const std::string awkward = "a\"b\\c\nd\x01\te";
    ArrayText list;
    CHECK(list.empty());
    list.append(awkward).append(7).splice(R"({"x":[]})");
    const std::string list_text = list.text();
    const std::string text = ObjectText()
                                 .set(awkward, awkward)
                                 .set("n", std::uint64_t{18446744073709551615U})
                                 .set("on", true)
                                 .set("half", 0.5)
                                 .splice("R", R"({"version":1})")
                                 .splice("list", list_text)
                                 .text();
    CHECK(text.find("18446744073709551615") != std::string::npos);
    const auto read = Json::parse(ObjectText().set(awkward, awkward).splice("list", list_text).text());
    REQUIRE(read);
    CHECK(read->string_at(awkward.c_str()) == awkward);
    CHECK(read->at("list").dump() == Json::own(json_pack("[s,i,{s:[]}]", awkward.c_str(), 7, "x")).dump());
    CHECK(ObjectText().text() == "{}");
    CHECK(ArrayText().text() == "[]");
}

TEST_CASE("json text: an object behind what is written already is the same") {
    ObjectText object(std::string("[1,"));
    CHECK(object.empty());
    CHECK(object.set("n", -7).set("least", std::numeric_limits<std::int64_t>::min()).size() == 36);
    CHECK(object.text() == R"([1,{"n":-7,"least":-9223372036854775808})");
}

TEST_CASE("json text: what is not UTF-8 does not spoil the message") {
    CHECK(ObjectText().set("note", "\xff!").text() == R"({"note":"?!"})");
    CHECK(ObjectText().set("note", "\xc3\xa4").text() == "{\"note\":\"\xc3\xa4\"}");
    CHECK(ObjectText().set("nothing", Json()).text() == R"({"nothing":null})");
}
