// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/common/output_log.hpp"

#include <catch2/catch.hpp>

using namespace weir::cmd;

namespace {

const std::string two_tasks =
    R"({"timestamp":1.0,"name":"header","context":{"version":1,"count":{"stdout":2,"stderr":2},"options":{}}})"
    "\n";

std::string data(const std::string& members) {
    return R"({"timestamp":2.0,"name":"data","context":{)" + members + "}}\n";
}

}  // namespace

// Mutant: cmd/common/output_log.cpp: open -= tasks_of(context); => open -= 1;
TEST_CASE("output log: what both streams of all tasks wrote, and whether that is all") {
    CHECK_FALSE(read_output_log("").is_complete);
    CHECK_FALSE(read_output_log(two_tasks).is_complete);
    const std::string written = two_tasks + data(R"("stream":"stderr","rank":"0","data":"err\n")") +
                                data(R"("stream":"stdout","rank":"1","encoding":"base64","data":"/wo=")");
    CHECK(read_output_log(written).data == "err\n\xff\n");
    CHECK(read_output_log(two_tasks + data(R"("stream":"stdout","rank":"0","data":"a\u0000b")")).data ==
          std::string("a\0b", 3));
    const std::string ends = data(R"("stream":"stdout","rank":"0-1","eof":true)") +
                             data(R"("stream":"stderr","rank":"1","data":"x","eof":true)");
    CHECK_FALSE(read_output_log(written + ends).is_complete);
    const JobOutput all = read_output_log(written + ends + data(R"("stream":"stderr","rank":"0","eof":true)"));
    CHECK(all.is_complete);
    CHECK(all.data == "err\n\xff\nx");
    CHECK(all.path.empty());
    const std::string redirected =
        R"({"timestamp":2.0,"name":"redirect","context":{"stream":"stdout","rank":"0-1","path":"a.out"}})"
        "\n";
    const JobOutput named =
        read_output_log(two_tasks + redirected + data(R"("stream":"stderr","rank":"0-1","eof":true)"));
    CHECK(named.path == "a.out");
    CHECK(named.is_complete);
}

TEST_CASE("output log: what is no entry is left out") {
    for (const char* odd : {"x\n", "{}\n", "[]\n", R"({"name":"data"})", R"({"name":"data","context":{"data":3}})",
                            R"({"name":"data","context":{"encoding":"base64","data":"?"}})"}) {
        CHECK(read_output_log(odd).data.empty());
        CHECK_FALSE(read_output_log(odd).is_complete);
    }
}
