// SPDX-License-Identifier: LGPL-3.0-only
#include "cmd/demo/records.hpp"

#include <catch2/catch.hpp>

using namespace weir;
using namespace weir::cmd;

namespace {

void feed(Journal& journal, const std::string& text) {
    auto answer = Json::parse(text);
    REQUIRE(answer.has_value());
    CHECK(journal.take(answer->get()));
}
const std::string R8 =
    R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["n[0-1]"]}})";

}  // namespace

TEST_CASE("records: a parent's job and the child's are one record") {
    Journal parent, child;
    feed(parent, R"({"id":7,"events":[{"timestamp":100.5,"name":"submit","context":{"userid":5001}},
        {"timestamp":101.5,"name":"priority","context":{"priority":0}},{"timestamp":102,"name":"priority","context":{"priority":77}},
        {"timestamp":103,"name":"weir.route"},{"timestamp":106,"name":"weir.route"},{"timestamp":110.25,"name":"alloc"}],
        "jobspec":{"attributes":{"system":{"bank":"chem","queue":"batch","duration":60.0}}}})");
    feed(parent, R"({"id":9,"events":[{"timestamp":100.0,"name":"submit","context":{"userid":0}}]})");
    feed(child, R"({"id":70,"events":[{"timestamp":101,"name":"submit","context":{"userid":0}}],
        "jobspec":{"attributes":{"system":{"weir":{"jobid":7,"userid":5001}}}}})");
    feed(child,
         R"({"id":70,"events":[{"timestamp":110.000001,"name":"alloc"},{"timestamp":110.1,"name":"start"}],"R":)" + R8 +
             "}");
    feed(
        child,
        R"({"id":70,"events":[{"timestamp":120.0,"name":"finish","context":{"status":0}}, {"timestamp":120.25,"name":"free"}]})");
    std::map<std::string, Journal> children;
    children["batch"] = child;
    feed(children["debug"], R"({"id":60,"events":[{"timestamp":105,"name":"alloc"},{"timestamp":105.5,"name":"free"},
        {"timestamp":105.75,"name":"clean"}],
        "jobspec":{"attributes":{"system":{"weir":{"jobid":7,"userid":5001}}}},"R":)" +
                                R8 + "}");  // recalled
    const auto records = join(parent, children, {{5001, "carol"}});
    REQUIRE(records.size() == 1);
    CHECK(records[0].user == "carol");
    CHECK(records[0].cores == 8);
    CHECK(records[0].partition == "batch");
    REQUIRE(records[0].priorities.size() == 2);
    CHECK(records[0].priorities[1].at == instant_from_seconds(102));
    CHECK(records[0].priorities[1].priority == 77);
    CHECK(records[0].moves ==
          std::vector<Instant>{instant_from_seconds(103), instant_from_seconds(105.75), instant_from_seconds(106)});
    CHECK(records[0].recorded == instant_from_seconds(110.25));
    CHECK(records[0].recalled_core_us == 8 * 500'000);
    CHECK(core_us(records[0]) == 8 * (10'249'999 + 500'000));
}

TEST_CASE("records: a job that ran twice counts twice and is seen") {
    Journal parent, child;
    feed(parent, R"({"id":7,"events":[{"timestamp":100,"name":"submit","context":{"userid":1}}]})");
    for (const char* id : {"70", "71"}) {
        feed(child,
             std::string(R"({"id":)") + id + R"(,"events":[{"timestamp":101,"name":"submit","context":{"userid":0}}],
            "jobspec":{"attributes":{"system":{"weir":{"jobid":7}}}}})");
        feed(
            child,
            std::string(R"({"id":)") + id +
                R"(,"events":[{"timestamp":110,"name":"alloc"},{"timestamp":110,"name":"start"},{"timestamp":111,"name":"free"}],"R":)" +
                R8 + "}");
    }
    const auto records = join(parent, {{"batch", child}}, {{1, "x"}});
    REQUIRE(records.size() == 2);
    CHECK(records[1].result == "ran twice");
}

TEST_CASE("records: the end of the backlog is not a job") {
    Journal journal;
    auto answer = Json::parse(R"({"id":-1,"events":[]})");
    CHECK_FALSE(journal.take(answer->get()));
    CHECK(journal.jobs().empty());
}
