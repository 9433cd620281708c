// SPDX-License-Identifier: LGPL-3.0-only
// A journal of many megabytes is decoded in parts: jobs, environments and faults are found wherever the parts are cut.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/journal/journal.hpp"
#include "broker/services/job-manager/journal/journal_lines.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

constexpr JobId long_jobs = 4000;  // 1.9 MiB

/// All submissions and the like, then the priorities of all: the lines of a job are parts apart. Two environments.
std::string long_journal() {
    EnvironmentPool shell;
    std::vector<std::unique_ptr<Life>> lives;
    JournalWriter writer;
    writer.begin(0, 0);
    for (JobId id = 1; id <= long_jobs; ++id) {
        lives.push_back(std::make_unique<Life>(id));
        const std::string value = id % 2 == 0 ? "even" : "odd";
        set_jobspec(lives.back()->job, shell,
                    jobspec_text("\"duration\":" + std::to_string(id) + ",\"environment\":{\"A\":\"" + value + "\"}"));
        lives.back()->to_sched(16, static_cast<int>(id));
    }
    for (const bool is_last : {false, true}) {
        for (const auto& life : lives) {
            std::string_view lines = life->job.eventlog;
            while (!lines.empty()) {
                const std::size_t end = lines.find('\n');
                if ((end + 1 == lines.size()) == is_last) {
                    writer.add(life->job, lines.substr(0, end));
                }
                lines.remove_prefix(end + 1);
            }
        }
    }
    return writer.text();
}

/// The byte at which a line begins; lines count from 1.
std::size_t begin_of(const std::string& text, std::size_t number) {
    std::size_t at = 0;
    for (; number > 1; --number) {
        at = text.find('\n', at) + 1;
    }
    return at;
}

std::string refusal_of(const std::string& text) {
    EnvironmentPool pool;
    const auto read = read_journal(text, "jobs.journal", pool);
    REQUIRE_FALSE(read);
    return read.error().message;
}

}  // namespace

TEST_CASE("journal: jobs whose lines are parts apart come back whole, with their environments") {
    const std::string text = long_journal();
    EnvironmentPool pool;
    const auto read = read_journal(text, "j", pool);
    REQUIRE(read);
    REQUIRE(read->jobs.size() == long_jobs);
    CHECK(read->next_line == count_lines(text));
    CHECK(pool.size() == 2);
    bool is_whole = true;
    for (JobId id = 1; id <= long_jobs; ++id) {
        const Job& job = *read->jobs[id - 1];
        const std::string value = id % 2 == 0 ? "even" : "odd";
        is_whole = is_whole && job.id == id && job.state == State::sched &&
                   job.priority == static_cast<std::int64_t>(id) && count_lines(job.eventlog) == 4 &&
                   job.facts.duration == static_cast<double>(id) &&
                   *job.jobspec_text.environment == "{\"A\":\"" + value + "\"}";
    }
    CHECK(is_whole);
}

TEST_CASE("journal: a fault is named by its line in whatever part it is") {
    const std::string text = long_journal();
    const std::size_t lines = count_lines(text);
    for (const std::size_t number : {std::size_t{2}, lines / 3, lines / 2, lines - 1}) {
        const std::size_t begin = begin_of(text, number);
        const std::size_t end = text.find('\n', begin);
        const std::string place = "jobs.journal:" + std::to_string(number) + ": ";
        std::string changed = text;
        changed[begin + 6] = changed[begin + 6] == '1' ? '2' : '1';
        CHECK(refusal_of(changed).starts_with(place + "the line was changed"));
        const std::string shortened = text.substr(0, begin) + text.substr(end + 1);
        CHECK(refusal_of(shortened).starts_with(place + "lines are missing or out of place"));
        std::string rubbish = text;
        rubbish[end - 1] = '[';
        CHECK(refusal_of(rubbish).starts_with(place));
        CHECK(refusal_of(rubbish).find("head -n " + std::to_string(number - 1)) != std::string::npos);
    }
    std::string twice = text;
    twice[begin_of(text, lines / 2) + 5] = '[';
    twice[begin_of(text, lines - 1) + 5] = '[';
    CHECK(refusal_of(twice).starts_with("jobs.journal:" + std::to_string(lines / 2) + ": "));  // the first one
}

TEST_CASE("journal: a torn line behind many parts is dropped with its number") {
    const std::string text = long_journal();
    EnvironmentPool pool;
    const auto read = read_journal(text.substr(0, text.size() - 3), "j", pool);
    REQUIRE(read);
    CHECK(read->warning.starts_with("j:" + std::to_string(count_lines(text)) + ": the last flush is not whole ("));
    CHECK(read->next_line + 1 == count_lines(text));
    CHECK(read->jobs.back()->state == State::priority);
}
