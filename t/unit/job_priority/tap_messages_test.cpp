// SPDX-License-Identifier: LGPL-3.0-only
// What the plugin takes as an update, and what it refuses as a whole.
#include "modules/job-priority/tap/tap_messages.hpp"

#include <catch2/catch.hpp>

#include "modules/job-priority/tap/tap_table.hpp"

using namespace weir::priority;

namespace {

std::optional<TapUpdate> read(const std::string& text) {
    weir::FlatJson flat;
    return read_update(flat.read(text));
}

}  // namespace

TEST_CASE("tap update: jobs, mode and first values are read") {
    const auto update = read(R"({"jobs":[[7,20],[8,-5]],"mode":"fill","synced":false,)"
                             R"("first_values":[["1000 16 1 0:",5],["x",99999999999]],"all_first_values":true})");
    REQUIRE(update);
    REQUIRE(update->jobs.size() == 2);
    CHECK(update->jobs[0].id == 7);
    CHECK(update->jobs[1].priority == -5);
    CHECK(update->mode == TapUpdate::Mode::fill);
    CHECK(update->is_synced == false);
    CHECK(update->is_all_first_values);
    REQUIRE(update->first_values.size() == 2);
    CHECK(update->first_values[0] == std::pair<std::string, std::uint32_t>("1000 16 1 0:", 5));
    CHECK(update->first_values[1].second == clamp_priority(99999999999));
}

TEST_CASE("tap update: what is not said stays as it is") {
    const auto update = read(R"({"jobs":[]})");
    REQUIRE(update);
    CHECK(update->jobs.empty());
    CHECK(update->mode == TapUpdate::Mode::job);
    CHECK_FALSE(update->is_synced);
    CHECK_FALSE(update->is_all_first_values);
}

TEST_CASE("tap update: one bad entry refuses the whole") {
    for (const char* text :
         {"", "[]", "{}", R"({"jobs":{}})", R"({"jobs":[7]})", R"({"jobs":[[7]]})", R"({"jobs":[["7",1]]})",
          R"({"jobs":[[7,1.5]]})", R"({"jobs":[[1,2],[]]})", R"({"jobs":[],"mode":"some"})", R"({"jobs":[],"mode":1})",
          R"({"jobs":[],"first_values":7})", R"({"jobs":[],"first_values":[[1,2]]})",
          R"({"jobs":[],"first_values":[["a"]]})"}) {
        INFO(text);
        CHECK_FALSE(read(text));
    }
}
