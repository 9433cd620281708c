// SPDX-License-Identifier: LGPL-3.0-only
// What the plugin is told to give new jobs by itself: which kinds, which numbers, and that module and plugin name a
// kind alike.
#include <catch2/catch.hpp>

#include "modules/job-priority/ranking/first_values.hpp"
#include "modules/job-priority/tap/job_kind.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir::priority;
using namespace weir::priority::testing;
using weir::JobInputs;
using weir::priority_min;

namespace {

Settings settings_with_head() {
    Settings with = settings();
    with.push = weir::config::PushRule::head;
    return with;
}

std::unique_ptr<PriorityService> service_with_head(const std::string& tree = tree_text,
                                                   const Settings& with = settings_with_head()) {
    auto made = service(false, with);
    put_tree(*made, tree);
    made->begin_backlog();
    made->end_backlog(at(0));
    made->pass(at(0));
    return made;
}

void come(PriorityService& s, FluxJobId id, double t, std::uint32_t userid, int with_urgency = 16) {
    s.apply(submitted(id, t, userid, "", with_urgency));
    s.apply(eligible(id, t));
    s.pass(at(t), Pass::marked);
}

FirstValueRows told_first_values(PriorityService& s) {
    FirstValueRows rows = s.first_values().take();
    s.first_values().acknowledge();
    return rows;
}

}  // namespace

TEST_CASE("first values: a kind is told once, again when its number changes, and all of them to another plugin") {
    FirstValues values;
    std::uint32_t number = 7;
    const auto compute = [&](const JobInputs&) { return number; };
    CHECK(values.take().is_all);  // the plugin may have those of an earlier life
    values.acknowledge();
    values.note("a", {}, compute);
    values.note("a", {}, compute);
    CHECK_FALSE(values.known("a"));
    const FirstValueRows rows = values.take();
    CHECK(rows.rows == std::vector<std::pair<std::string, std::uint32_t>>{{"a", 7}});
    CHECK_FALSE(rows.is_all);
    CHECK_FALSE(values.known("a"));
    values.acknowledge();
    CHECK(values.known("a") == 7U);
    values.renew(compute);
    CHECK_FALSE(values.has_work());
    number = 8;
    values.renew(compute);
    CHECK(values.known("a") == 7U);
    CHECK(values.take().rows.size() == 1);
    values.fail();
    CHECK_FALSE(values.known("a"));
    CHECK(values.take().rows.size() == 1);
    values.acknowledge();
    values.clear();
    CHECK_FALSE(values.known("a"));
    CHECK(values.take().is_all);
}

TEST_CASE("first values: kinds beyond the limit are forgotten and learned again") {
    FirstValues values;
    const auto compute = [](const JobInputs&) { return 1U; };
    for (std::size_t n = 0; n <= FirstValues::kinds_max; n++) {
        values.note(std::to_string(n), {}, compute);
    }
    const FirstValueRows rows = values.take();
    CHECK(rows.is_all);
    CHECK(rows.rows.size() == 1);
}

TEST_CASE("first values: module and plugin name a kind alike, and a name cannot pretend to be two") {
    weir::FlatJson reader;
    const std::string text =
        R"({"resources":[{"type":"node","count":2,"with":[{"type":"slot","count":3,"with":[{"type":"core","count":4}]}]}],)"
        R"("attributes":{"system":{"bank":"bio","queue":"batch"}}})";
    CHECK(kind_of_jobspec(7, 16, reader.read(text)) == text_of({7, 16, "bio", "batch", "", 24}));
    CHECK(text_of({7, 16, "a", "bc", "", 1}) != text_of({7, 16, "ab", "c", "", 1}));
    CHECK(text_of({7, 16, "a", "", "", 1}) != text_of({7, 16, "", "a", "", 1}));
    const std::string copy = R"({"resources":[],"attributes":{"system":{"weir":{"jobid":3}}}})";
    CHECK_FALSE(kind_of_jobspec(7, 16, reader.read(copy)));
    const std::string partition = R"({"resources":[],"attributes":{"system":{"weir":{"serves":["batch"]}}}})";
    CHECK_FALSE(kind_of_jobspec(7, 16, reader.read(partition)));
    const std::string filled =
        R"({"resources":[],"attributes":{"system":{"bank":"bio","weir":{"default_bank":"bio"}}}})";
    CHECK(kind_of_jobspec(7, 16, reader.read(filled)) == text_of({7, 16, "bio", "", "", 1}));
}

// Kills: a number that is not the one the job would have got; another user's number; a number that is sent twice.
TEST_CASE("first values: the second job of a kind is expected to have what the plugin gave it") {
    auto s = service_with_head();
    come(*s, 1, 1, alice);
    const auto first = push(*s);
    REQUIRE(first.size() == 1);
    const FirstValueRows rows = told_first_values(*s);
    REQUIRE(rows.rows.size() == 1);
    CHECK(rows.rows.front().second == s->ranking().queue().engine().pushed(*s->ranking().queue().find(1)));
    CHECK(rows.rows.front().first == text_of({alice, 16, "", "", "", 1}));
    come(*s, 2, 2, alice);
    CHECK_FALSE(s->first_values().has_work());
    come(*s, 3, 3, bob);
    CHECK(s->first_values().has_work());
    come(*s, 4, 4, alice, 0);  // held: it has no value
    CHECK(told_first_values(*s).rows.size() == 1);
}

TEST_CASE("first values: usage changes them, a limit or another policy ends them") {
    auto s = service_with_head();
    come(*s, 1, 1, alice);
    come(*s, 2, 1, bob);
    (void)told_first_values(*s);
    s->apply(started(2, 2, 64));
    s->pass(at(4000));
    CHECK_FALSE(told_first_values(*s).rows.empty());
    put_tree(*s,
             "\"physics\" = {shares = 2, running_jobs_max = 1}\n\"physics/@alice\" = 1\n\"bio\" = 1\n\"bio/@*\" = 1\n",
             4001);
    s->pass(at(4002));
    CHECK(told_first_values(*s).is_all);
    come(*s, 3, 4003, alice);
    CHECK_FALSE(s->first_values().has_work());
    Settings numbers = settings_with_head();
    numbers.push = weir::config::PushRule::numbers;
    auto other = service_with_head(tree_text, numbers);
    (void)told_first_values(*other);
    come(*other, 1, 1, alice);
    CHECK_FALSE(other->first_values().has_work());
}

// Mutant: modules/job-priority/ranking/pending_queue.hpp: size() >= deep_queue; => size() > deep_queue;
// Mutant: modules/job-priority/ranking/pending_queue.hpp: has_head() && scheduler_.takes_order && => has_head() &&
// Mutant: modules/job-priority/ranking/first_value_feed.cpp: ranking_.expect(job.id, *lowest); => (void)lowest;
TEST_CASE("first values: in a deep queue of a scheduler that takes the order a new job has the lowest") {
    auto s = service_with_head();
    const auto number = [&](FluxJobId id) { return s->sends().plugin().pushed(id).value_or(0); };
    const auto priority = [&](FluxJobId id) {
        const PendingQueue& queue = s->ranking().queue();
        return queue.engine().priority(*queue.find(id), at(2), s->ranking().factors());
    };
    s->set_scheduler({true, 0});
    s->pass(at(0));
    for (FluxJobId id = 1; id < PendingQueue::deep_queue; id++) {
        come(*s, id, 1, alice);
    }
    (void)push(*s);
    CHECK(number(PendingQueue::deep_queue - 1) == priority(PendingQueue::deep_queue - 1));
    const FluxJobId late = PendingQueue::deep_queue;
    come(*s, late, 1, alice, 15);
    (void)push(*s);
    CHECK(number(late) == priority_min);
    s->apply(started(1, 1, 64));
    come(*s, late + 1, 1, alice, 14);
    s->pass(at(2));
    for (const auto& [kind, value] : told_first_values(*s).rows) {
        CHECK(value == priority_min);
    }
    come(*s, late + 2, 2, alice, 15);
    // Its number follows for display, and at once when another scheduler comes.
    CHECK(s->sends().plugin().has_shown());
    (void)push(*s);
    CHECK(number(late) == priority(late));
    CHECK(number(late + 2) == priority_min);
    s->set_scheduler({false, 8});
    s->pass(at(3));
    (void)push(*s);
    CHECK(number(late + 2) > priority_min);
    const FirstValueRows rows = told_first_values(*s);
    CHECK_FALSE(rows.rows.empty());
    for (const auto& [kind, value] : rows.rows) {
        CHECK(value > priority_min);
    }
}
