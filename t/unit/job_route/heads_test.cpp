// SPDX-License-Identifier: LGPL-3.0-only
// What is read of a child's message before the rest is expanded.
#include <catch2/catch.hpp>

#include "modules/job-route/messages_json.hpp"

using namespace weir::route;

TEST_CASE("attach, report: the head says whose it is and how much it has, and the rest may be anything") {
    weir::FlatJson reader;
    const auto attach = read_attach_head(reader.read(R"({"jobid":7,"serves":["a",3],"known":[[],1,{"x":[2,3]}]})"));
    REQUIRE(attach);
    CHECK(attach->child == JobId{7});
    CHECK(attach->serves == 2);
    CHECK(attach->known == 3);
    CHECK(read_attach_head(reader.read(R"({"jobid":7,"known":{"a":1}})"))->known == 0);
    const auto report = read_report_head(reader.read(R"({"jobid":7,"session":"s","events":[{"id":1},[]]})"));
    REQUIRE(report);
    CHECK(report->child == JobId{7});
    CHECK(report->session == "s");
    CHECK(report->events == 2);
    for (const char* wrong : {"", "[]", "{", R"({"jobid":"7","session":"s"})", R"({"jobid":7.5,"session":"s"})"}) {
        CHECK_FALSE(read_attach_head(reader.read(wrong)));
        CHECK_FALSE(read_report_head(reader.read(wrong)));
    }
    CHECK_FALSE(read_report_head(reader.read(R"({"jobid":7})")));
}
