// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/json/merge.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "libfairshare/base/json/json.hpp"

using namespace weir;

namespace {

std::string merged(const std::string& into, const std::string& from) {
    Json result = Json::parse(into).value();
    const Json more = Json::parse(from).value();
    merge_tables(result.get(), more.get());
    CHECK(more.dump(JSON_SORT_KEYS) == Json::parse(from).value().dump(JSON_SORT_KEYS));
    return result.dump(JSON_SORT_KEYS | JSON_COMPACT);
}

}  // namespace

TEST_CASE("merge: tables are merged key by key, at any depth") {
    CHECK(merged(R"({"a":{"x":1,"in":{"p":1}},"b":2})", R"({"a":{"y":3,"in":{"q":2}},"c":4})") ==
          R"({"a":{"in":{"p":1,"q":2},"x":1,"y":3},"b":2,"c":4})");
}

TEST_CASE("merge: anything but two tables is replaced, a list as a whole") {
    CHECK(merged(R"({"a":[1,2],"b":{"x":1},"c":1})", R"({"a":[3],"b":7,"c":{"x":1}})") ==
          R"({"a":[3],"b":7,"c":{"x":1}})");
}
