// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/messages/report_wire.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/bounded_name.hpp"
#include "modules/job-priority/messages/journal_events.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

Result<UplinkBatch> read_text_of_report(const std::string& text) {
    FlatJson reader;
    return read_report(reader.read(text));
}

std::string report_of(const std::string& records) {
    return R"({"jobid":7,"seq":1,"since":1767225600000000,"records":[)" + records + "]}";
}

}  // namespace

TEST_CASE("report: every value of a start survives the way there, of an end its job and its time") {
    const std::vector<UplinkRow> rows{
        {true, 5, "alice", "bio", 3, at(1.25)},
        {true, 0xfedcba9876543210, "bio", "alice \"q\"", 0, at(-2), 5},
        {true, 6, "alice", "bio", 1, at(3), 0, {.rate = 1000, .queue = "batch"}},
        {true, 7, "", "", 1, at(3.000001), 5, {.rate = 2500, .project = "water"}},
        {true, 8, "alice", "bio", 1, at(3), 0, {.rate = 1000, .gpus = 4}},
        {true, 9, "alice", "bio", 1, at(3), 0, {.rate = 1000, .prepaid = 2h, .committed = 3h}},
        {true, 10, "alice", "bio", 1, at(3), 0, {.rate = 1000, .qos = "batch"}},
        {true, 11, "alice", "bio", 1, at(3), 0, {.rate = 1000, .qos = "batch"}},
        {false, 5, "", "", 0, at(2)},
    };
    FlatJson reader;
    const std::string text = write_report(99, {41, rows});
    const FlatValue message = reader.read(text);
    const auto head = read_report_head(message);
    REQUIRE(head);
    CHECK(head->child == 99);
    CHECK(head->records == rows.size());
    const auto back = read_report(message);
    REQUIRE(back);
    CHECK(back->first_seq == 41);
    REQUIRE(back->records.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const UplinkRow& sent = rows[i];
        const UplinkRow& got = back->records[i];
        CHECK(got.is_start == sent.is_start);
        CHECK(got.job == sent.job);
        CHECK(got.time == sent.time);
        CHECK(got.user == sent.user);
        CHECK(got.account == sent.account);
        CHECK(got.cores == sent.cores);
        CHECK(got.inside == sent.inside);
        CHECK(got.bill == sent.bill);
    }
}

TEST_CASE("report: a batch of records with the longest names that are kept is read back") {
    const std::string escaped = "\\u0001";
    const std::string quoted_twice = R"(\")";
    for (const std::string& unit : {std::string("x"), std::string("\xc3\xa9"), quoted_twice, escaped}) {
        std::vector<UplinkRow> rows;
        FlatJson reader;
        for (std::size_t i = 0; i < UplinkQueue::batch_max; ++i) {
            const auto name = [&](std::size_t bytes, const char* kind) {
                std::string text = kind + std::to_string(i);
                while (text.size() + unit.size() <= bytes) {
                    text += unit;
                }
                return text;
            };
            const std::string text = R"({"id":1,"events":[{"timestamp":1,"name":"submit","context":{"userid":1}}],)"
                                     R"("jobspec":{"attributes":{"system":{"bank":")" +
                                     name(account_bytes_max, "b") + R"(","queue":")" + name(name_bytes_max, "q") +
                                     R"(","project":")" + name(name_bytes_max, "p") + "\"}}}}";
            const auto read = read_journal(reader.read(text));
            const JobRequest request = std::get<SubmitEvent>(read->events.at(0).what).request;
            REQUIRE(request.account[0] == 'b');
            REQUIRE(request.queue[0] == 'q');
            REQUIRE(request.project[0] == 'p');
            rows.push_back({true,
                            ~std::uint64_t{i},
                            "u" + std::to_string(i) + std::string(250, 'u'),
                            request.account,
                            3,
                            at(1),
                            7,
                            {.queue = request.queue, .project = request.project}});
        }
        const std::string text = write_report(99, {41, rows});
        CHECK(text.size() + UplinkQueue::batch_max * name_bytes_max <= report_bytes_max);  // another name has room
        const auto back = read_text_of_report(text);
        REQUIRE(back);
        REQUIRE(back->records.size() == rows.size());
        CHECK(std::equal(rows.begin(), rows.end(), back->records.begin(), [](const UplinkRow& a, const UplinkRow& b) {
            return a.account == b.account && a.user == b.user && a.bill.queue == b.bill.queue &&
                   a.bill.project == b.bill.project;
        }));
    }
}

TEST_CASE("report: a thousand ended jobs cost less than 100 bytes each") {
    std::size_t bytes = 0;
    for (std::uint64_t batch = 0; batch < 4; ++batch) {
        std::vector<UplinkRow> rows;
        for (std::uint64_t i = 0; i < UplinkQueue::batch_max / 2; ++i) {
            const std::uint64_t id = 0x9e3779b97f4a7c15ULL * (batch * 1000 + i + 1);
            const double t = 3600. * static_cast<double>(i) / 250;
            rows.push_back({true,
                            id,
                            "user" + std::to_string(i % 50),
                            "account" + std::to_string(i % 8),
                            4,
                            at(t),
                            0,
                            {.rate = core_rate(4)}});
            rows.push_back({false, id, "", "", 0, at(t + 1234.567891)});
        }
        bytes += write_report(123456789012, {batch * UplinkQueue::batch_max, rows}).size();
    }
    CHECK(bytes < 1000 * 100);
}

TEST_CASE("report: what is no record is refused with its place") {
    const auto good = read_text_of_report(report_of(R"([1,0,"alice","bio",1],[2,0,0,1,9000000000000000],[1,9])"));
    REQUIRE(good.value().records.size() == 3);
    CHECK(good.value().records[0].bill.rate == core_rate(1));
    CHECK(good.value().records[1].bill.rate == billed_rate_max);
    for (const char* bad : {"[]",
                            "[1]",
                            R"([1,0,"alice"])",
                            R"([1,0,"alice","bio"])",
                            R"([1,0,"alice","bio",-1])",
                            R"([1,0,"alice","bio",-176067222000000000])",
                            R"([1,0,7,"bio",1])",
                            R"([1,0,-1,"bio",1])",
                            R"([1,0.5])",
                            R"([1,0,"a","b",1,0,"q","p","r"])",
                            R"([1,0,"a","b",1,0,"q","p",-1])",
                            R"([1,0,"a","b",1,0,"q","p",1099511627777])",
                            R"([1,0,"a","b",1,0,"q","p",1,268435457])",
                            R"([1,0,"a","b",1,0,"q","p",1,0,-1])",
                            R"([1,0,"a","b",1,0,"q","p",1,0,0,31536000000001])",
                            R"([1,0,"a","b",1,0,"q","p",1,0,0,0,-1])",
                            R"([1,0,"a","b",1,0,"q","p",1,0,0,0,"h",0])",
                            R"([1,900000000000000000])",
                            R"({"1":0})",
                            "7",
                            "null",
                            R"(["1",0])"}) {
        INFO(bad);
        const auto read = read_text_of_report(report_of(std::string("[1,0,\"a\",\"b\",1],") + bad));
        REQUIRE_FALSE(read);
        CHECK(read.error().code == std::errc::protocol_error);
        CHECK_THAT(read.error().message, Contains("record 1 must be"));
    }
}

TEST_CASE("report: what is no report, and more records than a batch has, are refused") {
    for (const char* bad : {"", "7", "{}", R"({"jobid":7,"seq":1,"records":{}})", R"({"jobid":7,"records":[]})",
                            R"({"jobid":7,"seq":1,"since":900000000000000000,"records":[]})",
                            R"({"jobid":7,"seq":-1,"since":0,"records":[]})",
                            R"({"jobid":7,"seq":9223372036854775807,"since":0,"records":[]})"}) {
        INFO(bad);
        CHECK_FALSE(read_text_of_report(bad));
    }
    std::string many = "[1,0]";
    for (std::size_t i = 1; i < UplinkQueue::batch_max; ++i) {
        many += ",[1,0]";
    }
    CHECK(read_text_of_report(report_of(many)));
    CHECK_THAT(read_text_of_report(report_of(many + ",[1,0]")).error().message,
               Contains("at most 500 records, not 501"));
}
