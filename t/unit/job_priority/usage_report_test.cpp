// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/messages/usage_report.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "modules/job-priority/charges/usage_hours.hpp"
#include "modules/job-priority/state/state_store.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr std::int64_t first_hour = 1767225600 / 3600;  // of at(0)

JobEvent submitted_for(FluxJobId id, double t, std::uint32_t userid, const std::string& queue,
                       const std::string& project) {
    JobEvent event = submitted(id, t, userid);
    auto& request = std::get<SubmitEvent>(event.what).request;
    request.queue = queue;
    request.project = project;
    return event;
}

void run_submitted(PriorityService& s, const JobEvent& submit, std::int64_t cores, double from, double to) {
    s.apply(submit);
    s.apply(started(submit.id, from, cores));
    s.apply(freed(submit.id, to));
}

/// Sums by label, of what is in the store and what is not.
std::map<UsageSlot, std::int64_t> sums(PriorityService& s, StateStore& store, std::vector<std::int64_t> hours,
                                       UsageLabels by, double now) {
    UsageReport report({std::move(hours), by});
    std::map<UsageSlot, std::int64_t> result;
    REQUIRE(store.read_usage(
        report.query().edges, by,
        [&](std::size_t, const UsageSlot& slot, SignedCoreMicros sum) { report.add(slot, sum); },
        [&] {
            report.add_unwritten(s, at(now));
            report.end_span();
        }));
    const auto view = report.view(s, at(now));
    REQUIRE(view);
    std::int64_t total = 0;
    const json_t* rows = json_object_get(view->get(), "rows");
    for (std::size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        const auto text = [row](const char* key) {
            const char* value = json_string_value(json_object_get(row, key));
            return std::string(value != nullptr ? value : "");
        };
        const std::int64_t core_us = json_integer_value(json_object_get(row, "core_us"));
        result[{json_integer_value(json_object_get(row, "span")), text("account"), text("user"), text("queue"),
                text("project")}] += core_us;
        total += core_us;
    }
    CHECK(total == json_integer_value(json_object_get(view->get(), "total_core_us")));
    return result;
}

StateStore memory() {
    std::vector<std::string> warnings;
    auto store = StateStore::open("", warnings);
    REQUIRE(store);
    return std::move(*store);
}

constexpr UsageLabels all_labels{true, true, true, true};

}  // namespace

TEST_CASE("usage report: a span is cut at the hours, and its hours add up to cores times length") {
    std::map<std::int64_t, std::int64_t> hours;
    for_each_hour({3, at(3599.5), at(7200.25)},
                  [&](std::int64_t hour, std::int64_t core_us) { hours[hour] += core_us; });
    CHECK(hours == std::map<std::int64_t, std::int64_t>{
                       {first_hour, 1'500'000}, {first_hour + 1, 10'800'000'000}, {first_hour + 2, 750'000}});
}

TEST_CASE("usage report: each account, user, queue and project has its core-microseconds, written or not") {
    auto s = ready_service();
    StateStore store = memory();
    run_submitted(*s, submitted_for(1, 0, alice, "batch", "qcd"), 4, 10, 20);
    run_submitted(*s, submitted_for(2, 0, alice, "debug", "qcd"), 2, 10, 20);
    REQUIRE(store.apply(s->take_batch()));
    run_submitted(*s, submitted_for(3, 0, alice, "batch", "qcd"), 1, 20, 21);
    run_submitted(*s, submitted_for(4, 0, bob, "batch", ""), 1, 20, 20.000001);
    s->apply(submitted_for(5, 0, bob, "batch", ""));
    s->apply(started(5, 30, 8));  // runs on
    const auto got = sums(*s, store, {first_hour, first_hour + 1}, all_labels, 31);
    CHECK(got == std::map<UsageSlot, std::int64_t>{{{0, "physics/lattice", "alice", "batch", "qcd"}, 41'000'000},
                                                   {{0, "physics/lattice", "alice", "debug", "qcd"}, 20'000'000},
                                                   {{0, "bio", "bob", "batch", ""}, 8'000'001}});
    REQUIRE(store.apply(s->take_batch()));
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, all_labels, 31) == got);
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, {false, false, false, true}, 31) ==
          std::map<UsageSlot, std::int64_t>{{{0, "", "", "", "qcd"}, 61'000'000}, {{0, "", "", "", ""}, 8'000'001}});
}

TEST_CASE("usage report: a job that runs over the edge of two spans is in both") {
    auto s = ready_service();
    StateStore store = memory();
    run_submitted(*s, submitted_for(1, 0, bob, "", "p"), 2, 3000, 4000);
    REQUIRE(store.apply(s->take_batch()));
    CHECK(sums(*s, store, {first_hour, first_hour + 1, first_hour + 2}, {false, true, false, false}, 5000) ==
          std::map<UsageSlot, std::int64_t>{{{0, "", "bob", "", ""}, 1'200'000'000},
                                            {{1, "", "bob", "", ""}, 800'000'000}});
}

TEST_CASE("usage report: what a child reports is its users', under its project, and is taken off the child's own job") {
    auto s = ready_service();
    StateStore store = memory();
    s->apply(submitted_for(50, 90, owner, "night", "pool"));
    s->apply(started(50, 100, 10));
    s->attach_child(50, "one", 1, at(100));
    const UplinkRow begin{.is_start = true,
                          .job = 1,
                          .user = "alice",
                          .account = "physics/lattice",
                          .cores = 4,
                          .time = at(110),
                          .bill = {.project = "qcd"}};
    UplinkRow end = begin;
    end.is_start = false;
    end.time = at(120);
    s->report(50, 1, {begin, end}, at(130));
    s->apply(freed(50, 200));
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, all_labels, 300) ==
          std::map<UsageSlot, std::int64_t>{{{0, "physics/lattice", "alice", "night", "qcd"}, 40'000'000},
                                            {{0, "/idle", "", "night", "pool"}, 960'000'000}});
    CHECK(charged(*s, "physics/lattice/@alice", 300) == 40'000'000);
}

namespace {

/// What alice's 4 cores for ten seconds are booked under, by the record of a child of `who` in the queue "night" that
/// serves "debug".
std::map<UsageSlot, std::int64_t> reported_in(std::uint32_t who, const std::string& queue, const std::string& serves) {
    auto s = ready_service();
    StateStore store = memory();
    JobEvent submit = submitted_for(50, 90, who, "night", who == owner ? "" : "p");
    auto& request = std::get<SubmitEvent>(submit.what).request;
    request.is_instance = !serves.empty();
    request.serves = serves;
    s->apply(submit);
    s->apply(started(50, 100, 4));
    s->attach_child(50, "one", 1, at(100));
    const std::string user = who == owner ? "alice" : "bob";
    const Bill bill{.queue = queue, .project = "p"};
    s->report(50, 1, {{true, 1, user, "", 4, at(100), 0, bill}, {false, 1, user, "", 4, at(110), 0, bill}}, at(130));
    s->apply(freed(50, 110));
    auto got = sums(*s, store, {first_hour, first_hour + 1}, {false, false, true, true}, 300);
    std::erase_if(got, [](const auto& row) { return row.first.project.empty(); });
    return got;
}

}  // namespace

TEST_CASE("usage report: a job in a child is under the queue that its user submitted it to") {
    const auto under = [](const std::string& queue) {
        return std::map<UsageSlot, std::int64_t>{{{0, "", "", queue, "p"}, 40'000'000}};
    };
    CHECK(reported_in(owner, "batch", "debug") == under("batch"));  // lent
    CHECK(reported_in(owner, "", "debug") == under("debug"));       // submitted inside the partition
    CHECK(reported_in(owner, "", "") == under("night"));
    CHECK(reported_in(bob, "batch", "") == under("night"));  // no guest names a queue of ours
}

// Mutant: modules/job-priority/jobs/payers.cpp: return book_.is_owners(child) ? record.bill.project : => return true ?
// record.bill.project :
TEST_CASE("usage report: no guest names a project, or as many as he likes") {
    auto s = ready_service();
    StateStore store = memory();
    s->apply(submitted_for(50, 90, bob, "night", "own"));
    s->apply(started(50, 100, 4));
    s->attach_child(50, "one", 1, at(100));
    for (std::uint64_t job = 1; job <= 10; job++) {
        const Bill bill{.project = "p" + std::to_string(job)};
        s->report(
            50, 2 * job - 1,
            {{true, job, "bob", "", 4, at(99 + job), 0, bill}, {false, job, "bob", "", 4, at(100 + job), 0, bill}},
            at(130));
    }
    s->apply(freed(50, 110));
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, {false, false, false, true}, 300) ==
          std::map<UsageSlot, std::int64_t>{{{0, "", "", "", "own"}, 40'000'000}});
}

TEST_CASE("usage report: a job from above is told and booked under its queue above, a guest's by no word of his") {
    for (const std::uint32_t who : {owner, alice}) {
        auto s = service(true);
        put_tree(*s);
        s->begin_backlog();
        s->end_backlog(at(0));
        StateStore store = memory();
        JobEvent submit = submitted_for(1, 0, who, "here", "p");
        auto& request = std::get<SubmitEvent>(submit.what).request;
        request.queue_above = "batch";
        run_submitted(*s, submit, 1, 10, 11);
        CHECK(sums(*s, store, {first_hour, first_hour + 1}, {false, false, true, true}, 20) ==
              std::map<UsageSlot, std::int64_t>{{{0, "", "", who == owner ? "batch" : "here", "p"}, 1'000'000}});
        s->sends().uplink().queue().attached(0);
        const auto batch = s->sends().uplink().queue().next();
        REQUIRE(batch);
        CHECK(batch->records.at(0).bill.queue == (who == owner ? "batch" : ""));
    }
}

TEST_CASE("usage report: a batch that failed keeps its hours for the next") {
    auto s = ready_service();
    StateStore store = memory();
    run_submitted(*s, submitted_for(1, 0, bob, "", ""), 1, 10, 11);
    StateBatch failed = s->take_batch();
    run_submitted(*s, submitted_for(2, 0, bob, "", ""), 1, 11, 12);
    s->log().untake(std::move(failed));
    REQUIRE(store.apply(s->take_batch()));
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, {}, 20) ==
          std::map<UsageSlot, std::int64_t>{{{0, "", "", "", ""}, 2'000'000}});
}

// Mutant: modules/job-priority/tree/tree_changeover.hpp: log.name_usage(accounting); => ;
TEST_CASE("usage report: hours of before a change of the tree have the names of then") {
    auto s = ready_service();
    StateStore store = memory();
    REQUIRE(store.apply(s->take_batch()));
    run_submitted(*s, submitted_for(1, 0, bob, "", ""), 1, 10, 11);
    put_tree(*s, "\"first\" = 1\n\"first/@carol\" = 1\n\"last\" = 1\n\"last/@bob\" = 1\n", 12);
    run_submitted(*s, submitted_for(2, 13, bob, "", ""), 1, 14, 17);
    const std::map<UsageSlot, std::int64_t> expected{{{0, "bio", "bob", "", ""}, 1'000'000},
                                                     {{0, "last", "bob", "", ""}, 3'000'000}};
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, all_labels, 20) == expected);
    REQUIRE(store.apply(s->take_batch()));
    CHECK(sums(*s, store, {first_hour, first_hour + 1}, all_labels, 20) == expected);
}

TEST_CASE("usage report: hours that are three years old go, and their labels with them") {
    StateStore store = memory();
    StateBatch batch;
    batch.usage = {{{1, "a", "old"}, 5}, {{2, "a", "u"}, 5}};
    REQUIRE(store.apply(batch));
    batch.usage = {{{2 + usage_hours_kept, "a", "u"}, 7}};
    REQUIRE(store.apply(batch));
    std::map<std::string, std::int64_t> users;
    const std::vector<std::int64_t> edges{0, 1 << 20};
    const auto take = [&](std::size_t, const UsageSlot& slot, SignedCoreMicros sum) {
        users[slot.user] = static_cast<std::int64_t>(sum);
    };
    REQUIRE(store.read_usage(edges, {false, true, false, false}, take));
    CHECK(users == std::map<std::string, std::int64_t>{{"u", 12}});
}

TEST_CASE("usage report: each span has its own sums, and one without an hour has none") {
    StateStore store = memory();
    StateBatch batch;
    batch.usage = {
        {{1, "a", "u"}, 5}, {{2, "a", "u"}, 6}, {{2, "b", "u"}, 8}, {{20, "a", "u"}, 7}, {{21, "a", "v"}, 9}};
    REQUIRE(store.apply(batch));
    std::map<std::pair<std::size_t, std::string>, std::int64_t> sums_of;
    const std::vector<std::int64_t> edges{1, 3, 10, 21, 30};
    const auto take = [&](std::size_t span, const UsageSlot& slot, SignedCoreMicros sum) {
        sums_of[{span, slot.account + slot.user}] += static_cast<std::int64_t>(sum);
    };
    REQUIRE(store.read_usage(edges, {true, true, false, false}, take));
    using Sums = std::map<std::pair<std::size_t, std::string>, std::int64_t>;
    CHECK(sums_of == Sums{{{0, "au"}, 11}, {{0, "bu"}, 8}, {{2, "au"}, 7}, {{3, "av"}, 9}});
}

TEST_CASE("usage report: a sum beyond 64 bits is exact in the store, and refused in the answer") {
    StateStore store = memory();
    StateBatch batch;
    for (std::int64_t hour = 0; hour < 4; ++hour) {
        batch.usage[{hour, "a", "u"}] = INT64_MAX;
    }
    REQUIRE(store.apply(batch));
    UsageReport report({{0, 4}, {}});
    REQUIRE(store.read_usage(report.query().edges, {}, [&](std::size_t, const UsageSlot& slot, auto sum) {
        CHECK(sum == SignedCoreMicros{INT64_MAX} * 4);
        report.add(slot, sum);
    }));
    report.end_span();
    auto s = ready_service();
    CHECK_FALSE(report.view(*s, at(0)));
}

namespace {

struct ToldRow {
    std::int64_t span = 0;
    std::string project;
    std::int64_t core_us = 0;
    bool operator==(const ToldRow&) const = default;
};

/// By project. The sum of the rows is that of the answer.
std::vector<ToldRow> told_rows(UsageReport& report) {
    const auto s = ready_service();
    const auto view = report.view(*s, at(0));
    REQUIRE(view);
    std::vector<ToldRow> told;
    std::int64_t total = 0;
    const json_t* rows = json_object_get(view->get(), "rows");
    for (std::size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        told.push_back({json_integer_value(json_object_get(row, "span")),
                        json_string_value(json_object_get(row, "project")),
                        json_integer_value(json_object_get(row, "core_us"))});
        total += told.back().core_us;
    }
    CHECK(total == json_integer_value(json_object_get(view->get(), "total_core_us")));
    return told;
}

constexpr UsageLabels project_label{.project = true};

}  // namespace

// Mutant: modules/job-priority/messages/usage_report.cpp: a.core_us > b.core_us : => a.core_us < b.core_us :
// Mutant: modules/job-priority/messages/usage_report.cpp: rest_[row.span] += row.core_us; => rest_[row.span] =
// row.core_us;
TEST_CASE("usage report: above the bound the smallest rows of each span are one row, and no sum is lost") {
    UsageReport report({{0, 1, 2, 3}, project_label}, std::nullopt, 3);
    report.add({0, "", "", "", "b"}, 50);
    for (const char* project : {"a", "c", "d", "e"}) {
        report.add({0, "", "", "", project}, 1);
    }
    report.add({0, "", "", "", "d"}, 69);  // twice, as two labels of the file may be
    report.end_span();
    report.add({0, "", "", "", "a"}, 2);
    report.end_span();
    report.add({0, "", "", "", "b"}, 60);
    report.add({0, "", "", "", "z"}, 3);
    report.end_span();
    CHECK(told_rows(report) ==
          std::vector<ToldRow>{
              {0, "b", 50}, {0, "d", 70}, {0, "[rest]", 3}, {1, "[rest]", 2}, {2, "b", 60}, {2, "[rest]", 3}});
}

TEST_CASE("usage report: as many rows as the bound are each told, and rows of 0 are none") {
    UsageReport report({{0, 1}, project_label}, std::nullopt, 2);
    report.add({0, "", "", "", "a"}, 1);
    report.add({0, "", "", "", "b"}, 2);
    report.add({0, "", "", "", "c"}, 7);
    report.add({0, "", "", "", "c"}, -7);
    report.end_span();
    CHECK(told_rows(report) == std::vector<ToldRow>{{0, "a", 1}, {0, "b", 2}});
}

TEST_CASE("usage report: a guest's many projects hide nobody's, and take no more memory with each span") {
    constexpr std::size_t spans = 8, junk = 2 * UsageReport::rows_max_default;
    UsageReport report({{0, 1, 2, 3, 4, 5, 6, 7, 8}, project_label});
    for (std::size_t span = 0; span < spans; ++span) {
        for (std::size_t i = 0; i < junk; ++i) {
            report.add({0, "", "", "", "!" + std::to_string(i)}, 1000);
        }
        report.add({0, "", "", "", "qcd"}, 3'600'000'000);
        report.end_span();
        CHECK(report.rows() <= 2 * UsageReport::rows_max_default);
    }
    const std::vector<ToldRow> told = told_rows(report);
    CHECK(told.size() <= UsageReport::rows_max_default + spans);
    std::int64_t sum = 0;
    for (const ToldRow& row : told) {
        sum += row.core_us;
    }
    CHECK(sum == static_cast<std::int64_t>(spans * (junk * 1000 + 3'600'000'000)));
    CHECK(std::count_if(told.begin(), told.end(), [](const ToldRow& row) { return row.project == "qcd"; }) == spans);
}

TEST_CASE("usage report: what runs and what is not written is in each of its spans") {
    auto s = ready_service();
    StateStore store = memory();
    run_submitted(*s, submitted_for(1, 0, bob, "", "p"), 2, 3000, 4000);  // not written
    s->apply(submitted_for(2, 0, alice, "", "q"));
    s->apply(started(2, 3500, 1));
    CHECK(sums(*s, store, {first_hour, first_hour + 1, first_hour + 2}, project_label, 3700) ==
          std::map<UsageSlot, std::int64_t>{{{0, "", "", "", "p"}, 1'200'000'000},
                                            {{0, "", "", "", "q"}, 100'000'000},
                                            {{1, "", "", "", "p"}, 800'000'000},
                                            {{1, "", "", "", "q"}, 100'000'000}});
}

TEST_CASE("usage report: edges are whole hours, and a question that is none is refused") {
    const auto edges = [](const char* text) {
        const Json asked = Json::parse_payload(text);
        auto query = read_usage_query(asked.get());
        return query ? query->edges : std::vector<std::int64_t>{-1};
    };
    CHECK(edges("{}").empty());
    CHECK(edges("{\"edges\":[10.5,3600,7201]}") == std::vector<std::int64_t>{0, 1, 3});
    CHECK(edges("{\"edges\":[3600,3700,7200]}") == std::vector<std::int64_t>{1, 2});
    for (const char* bad : {"{\"edges\":[5]}", "{\"edges\":[7200,0]}", "{\"edges\":[0,1e300]}",
                            "{\"edges\":[0,3600],\"by\":[\"moon\"]}", "{\"edges\":[0,3600],\"by\":[7]}"}) {
        INFO(bad);
        CHECK(edges(bad) == std::vector<std::int64_t>{-1});
    }
}
