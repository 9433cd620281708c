// SPDX-License-Identifier: LGPL-3.0-only
#include "libfairshare/base/json/config_changes.hpp"

#include <catch2/catch.hpp>

using namespace weir;

TEST_CASE("config changes: key by key, old and new, and tables without keys") {
    using Texts = std::vector<std::string>;
    const Json before = Json::parse(R"({"weir":{"half-life":"16d","weights":{"wait":1}},"queues":{"a":{}}})").value();
    const Json after =
        Json::parse(R"({"weir":{"half-life":"1d","policy":"fcfs"},"queues":{"a":{"requires":["x"]},"b":{}}})").value();
    CHECK(config_changes(before, after) == Texts{R"([queues] a.requires: (default) -> ["x"])",
                                                 "[queues] b: (default) -> {}", R"([weir] half-life: "16d" -> "1d")",
                                                 R"([weir] policy: (default) -> "fcfs")",
                                                 "[weir] weights.wait: 1 -> (default)"});
    CHECK(config_changes(before, before).empty());
}
