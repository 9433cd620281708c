// SPDX-License-Identifier: LGPL-3.0-only
// What a cluster ran, from its job journal. t8001 reads the journal of a real instance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "libsched/sim/journal.hpp"

using namespace weir;

namespace {

const std::string head = "{\"weir-jobs\":1,\"max_jobid\":9,\"next_seq\":9}\n";

std::string event(int id, double at, const std::string& name, const std::string& more = "") {
    return "{\"id\":" + std::to_string(id) + ",\"event\":{\"timestamp\":" + std::to_string(at) + ",\"name\":\"" + name +
           "\"}" + more + "}\n";
}
std::string submit(int id, double at, int userid, const std::string& system) {
    return "{\"id\":" + std::to_string(id) + ",\"event\":{\"timestamp\":" + std::to_string(at) +
           ",\"name\":\"submit\",\"context\":{\"userid\":" + std::to_string(userid) +
           "}},\"seq\":0,\"jobspec\":{\"version\":1,\"resources\":[{\"type\":\"slot\",\"label\":\"task\",\"count\":1,"
           "\"with\":[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"task\",\"count\":"
           "{\"per_slot\":1}}],\"attributes\":{\"system\":{" +
           system + "}}}}\n";
}
std::string alloc(int id, double at, const std::string& cores) {
    return event(id, at, "alloc",
                 ",\"R\":{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"" +
                     cores + "\"}}],\"nodelist\":[\"n[0-1]\"],\"starttime\":0,\"expiration\":0}}");
}

Result<JournalJobs> read_in_pieces(const std::string& text, bool lenient = false) {
    auto at = std::make_shared<std::size_t>(0);
    return read_journal({[text, at](char* into, std::size_t size) -> Result<std::size_t> {
                             const std::size_t count = std::min({std::size_t{100}, size, text.size() - *at});
                             std::memcpy(into, text.data() + *at, count);
                             *at += count;
                             return count;
                         },
                         "jobs.journal", journal_line_max},
                        lenient);
}

Instant at_second(double seconds) {
    return instant_from_seconds(seconds);
}

}  // namespace

TEST_CASE("journal: a job is its R from alloc to free, submitted when it depends on nothing any more") {
    const auto journal = read_in_pieces(
        head + submit(5, 100, 5001, "\"duration\":60,\"bank\":\"physics\",\"queue\":\"batch\"") +
        event(5, 102.25, "depend") + event(5, 102.5, "priority") + alloc(5, 110.5, "0-3") + event(5, 111, "start") +
        event(5, 120, "finish") + event(5, 121.5, "free") + event(5, 122, "clean"));
    REQUIRE(journal.has_value());
    REQUIRE(journal->jobs.size() == 1);
    const SimJob& job = journal->jobs[0];
    CHECK(job.number == 5);
    CHECK(job.submit == at_second(102.25));
    CHECK(job.run == duration_from_seconds(11));
    CHECK(job.limit == duration_from_seconds(60));
    CHECK(job.cores == 8);
    CHECK(job.user == 5001);
    CHECK(journal->accounts.at(job.group - 1) == "physics");
    CHECK(journal->queues.at(job.queue - 1) == "batch");
}

TEST_CASE("journal: jobs come in order of submission, also from a compacted one, which has them one by one") {
    std::string text = head;
    for (const int id : {3, 1, 2}) {
        text += submit(id, id * 10, 1, "\"duration\":0") + event(id, id * 10 + 0.5, "depend") +
                alloc(id, 100 + id, "0") + event(id, 200, "free") + event(id, 201, "clean");
    }
    const auto journal = read_in_pieces(text);
    REQUIRE(journal->jobs.size() == 3);
    CHECK(journal->jobs[0].number == 1);
    CHECK(journal->jobs[2].number == 3);
    CHECK(journal->jobs[0].limit == Duration::max());
}

TEST_CASE("journal: what never got resources and what has not ended is counted, not replayed") {
    const auto journal =
        read_in_pieces(head + submit(1, 1, 1, "") + event(1, 2, "exception") + event(1, 3, "clean") +
                       submit(2, 1, 1, "") + event(2, 1, "depend") + alloc(2, 4, "0") + submit(3, 1, 1, "") +
                       submit(4, 1, 1, "") + alloc(4, 5, "0") + event(4, 6, "free"));
    CHECK(journal->jobs.size() == 1);
    CHECK(journal->never_ran == 1);
    CHECK(journal->unfinished == 2);
}

TEST_CASE("journal: an instance that serves queues is left out, since the jobs in it are in the journal") {
    const std::string serves = "\"queue\":\"instances\",\"weir\":{\"serves\":[\"batch\"]}";
    const auto journal = read_in_pieces(
        head + submit(1, 1, 1, serves) + alloc(1, 2, "0-7") + submit(2, 3, 1, "\"queue\":\"batch\"") +
        alloc(2, 4, "0-1") + event(2, 6, "free") + event(2, 6, "clean") + event(1, 9, "free") + event(1, 9, "clean") +
        submit(3, 10, 1, serves) + event(3, 11, "clean") + submit(4, 12, 1, serves));
    REQUIRE(journal->jobs.size() == 1);
    CHECK(journal->jobs[0].number == 2);
    CHECK(journal->queues == std::vector<std::string>{"batch"});
    CHECK(journal->instances == 3);
    CHECK(journal->never_ran == 0);
    CHECK(journal->unfinished == 0);
}

TEST_CASE("journal: a broken line is an error with its number, or skipped and counted") {
    const std::string good = submit(1, 1, 1, "") + alloc(1, 2, "0");
    for (const std::string& bad :
         {std::string("{\n"), std::string("{\"id\":1}\n"), event(7, 3, "free"), event(1, -1, "free"),
          std::string("{\"id\":1,\"event\":{\"timestamp\":3,\"name\":\"alloc\"}}\n"), submit(2, 1, -5, "")}) {
        const std::string text = head + good + bad + event(1, 5, "free");
        CHECK(read_in_pieces(text).error().message.find("jobs.journal:4: ") == 0);
        const auto lenient = read_in_pieces(text, true);
        REQUIRE(lenient.has_value());
        CHECK(lenient->jobs.size() == 1);
        REQUIRE(lenient->skipped.total() == 1);
        CHECK(lenient->skipped.kinds()[0].first.find("jobs.journal:4: ") == 0);
    }
    CHECK_FALSE(read_in_pieces("{\"weir-jobs\":4}\n", true).has_value());
}

TEST_CASE("journal: a last line without an end was never finished and is left out") {
    const auto journal = read_in_pieces(head + submit(1, 1, 1, "") + "{\"id\":1,\"ev");
    REQUIRE(journal.has_value());
    CHECK(journal->is_torn);
}
