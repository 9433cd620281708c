// SPDX-License-Identifier: LGPL-3.0-only
// The parent's priorities of its jobs that wait here.
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// A copy of the parent's job `copy_of`, which waits.
void arrive_copy(PriorityService& s, FluxJobId id, double t, FluxJobId copy_of, std::uint32_t submitter = owner) {
    JobEvent event = submitted(id, t, submitter);
    std::get<SubmitEvent>(event.what).copy_of = copy_of;
    s.apply(event);
    s.apply(eligible(id, t));
}

std::unique_ptr<PriorityService> a_child(Settings with = settings()) {
    auto made = service(true, std::move(with));
    put_tree(*made);
    made->begin_backlog();
    made->end_backlog(at(0));
    return made;
}

std::map<std::uint64_t, std::uint32_t> values_at(PriorityService& s, double t) {
    s.pass(at(t), Pass::full);
    std::map<std::uint64_t, std::uint32_t> values;
    for (const auto& [id, value] : push(s)) {
        values[id] = value;
    }
    return values;
}

}  // namespace

TEST_CASE("given priorities: a copy has its parent's priority, whichever comes first") {
    auto s = a_child();
    s->take_given_priorities({{900, 77}}, false);
    arrive_copy(*s, 1, 1, 900);
    arrive_copy(*s, 2, 2, 901);
    s->take_given_priorities({{901, 78}}, false);
    auto values = values_at(*s, 3);
    CHECK(values.at(1) == 77U);
    CHECK(values.at(2) == 78U);
    s->take_given_priorities({{900, 99}}, false);
    CHECK(values_at(*s, 4).at(1) == 99U);
}

// Mutant: modules/job-priority/jobs/job_book.cpp: submit.submit_above.value_or(event.time) => event.time
TEST_CASE("given priorities: a copy is as old as its parent's job, and a guest's word counts for nothing") {
    auto s = a_child();
    const auto arrive = [&s](FluxJobId id, double t, double above, std::uint32_t submitter) {
        JobEvent event = submitted(id, t, submitter);
        std::get<SubmitEvent>(event.what).copy_of = 900 + id;
        std::get<SubmitEvent>(event.what).submit_above = at(above);
        s->apply(event);
        return s->book().find(id)->first_submit;
    };
    CHECK(arrive(1, 10, 5, owner) == at(5));
    CHECK(arrive(2, 11, 4, owner) == at(4));
    CHECK(arrive(3, 12, 3, alice) == at(12));
}

// Kills: the end of a recalled copy, seen late, that takes the priority of the next copy with it.
TEST_CASE("given priorities: a job that came back has its priority, whenever its old copy's end is seen") {
    auto s = a_child();
    s->take_given_priorities({{900, 77}}, false);
    arrive_copy(*s, 1, 1, 900);
    s->take_given_priorities({{900, std::nullopt}}, false);
    s->take_given_priorities({{900, 78}}, false);
    s->apply(cleaned(1, 2));
    arrive_copy(*s, 2, 3, 900);
    CHECK(values_at(*s, 4).at(2) == 78U);
}

TEST_CASE("given priorities: a new picture replaces the old one; what is not in it is computed here") {
    auto s = a_child();
    s->take_given_priorities({{900, 77}, {901, 78}}, true);
    arrive_copy(*s, 1, 1, 900);
    arrive_copy(*s, 2, 2, 901);
    (void)values_at(*s, 3);
    s->take_given_priorities({{900, 77}}, true);
    auto values = values_at(*s, 4);
    CHECK(values.count(1) == 0);
    CHECK(values.at(2) != 78U);
}

TEST_CASE("given priorities: nobody but the owner submits copies") {
    auto s = a_child();
    s->take_given_priorities({{900, 77}}, false);
    arrive_copy(*s, 1, 1, 900, bob);
    CHECK(values_at(*s, 2).at(1) != 77U);
}

// Mutant: modules/job-priority/messages/views_list.cpp: if (parts.bypass == Bypass::given) => if (false)
TEST_CASE("given priorities: the list shows no terms of a job that came from the parent, which has them") {
    auto s = a_child();
    s->take_given_priorities({{900, 77}}, false);
    arrive_copy(*s, 1, 1, 900);
    s->apply(submitted(2, 1, alice));
    s->apply(eligible(2, 1));
    s->pass(at(2), Pass::full);
    const weir::Json list = list_view(*s, at(2), {});
    for (const json_int_t id : {1, 2}) {
        const json_t* jobs = json_object_get(list.get(), "jobs");
        const json_t* found = nullptr;
        for (std::size_t i = 0; i < json_array_size(jobs); ++i) {
            const json_t* job = json_array_get(jobs, i);
            found = json_integer_value(json_object_get(job, "id")) == id ? job : found;
        }
        REQUIRE(found != nullptr);
        CHECK(json_is_true(json_object_get(found, "is_parents")) == (id == 1));
        for (const char* key : {"factors", "contributions"}) {
            CHECK((json_object_get(found, key) == nullptr) == (id == 1));
        }
    }
}

TEST_CASE("given priorities: an instance with a policy of its own does not take them") {
    Settings own = settings();
    own.takes_parent_factors = false;
    auto s = a_child(own);
    s->take_given_priorities({{900, 77}}, false);
    arrive_copy(*s, 1, 1, 900);
    CHECK(values_at(*s, 2).at(1) != 77U);
}

TEST_CASE("given priorities: all are here when each copy was seen, also after a new backlog") {
    auto s = a_child();
    CHECK(s->has_all_given());
    s->take_given_priorities({{900, 77}}, true);
    CHECK_FALSE(s->has_all_given());
    arrive_copy(*s, 1, 1, 900);
    CHECK(s->has_all_given());
    s->begin_backlog();
    s->end_backlog(at(2));
    CHECK_FALSE(s->has_all_given());
    s->take_given_priorities({{900, std::nullopt}}, false);
    CHECK(s->has_all_given());
}

TEST_CASE("limits: a partition is no job of an account, whatever says that it is one") {
    auto s = service();
    put_tree(*s, "\"all\" = {shares = 1, running_jobs_max = 1}\n\"all/@*\" = 1\n");
    s->begin_backlog();
    s->end_backlog(at(0));
    const bool is_named = GENERATE(true, false);
    JobEvent host = submitted(7, 1, owner);
    std::get<SubmitEvent>(host.what).request.is_instance = is_named;
    s->apply(host);
    s->apply(eligible(7, 1));
    s->pass(at(1), Pass::full);
    s->apply(started(7, 2, 4));
    if (!is_named) {
        (void)s->attach_child(7, "partition", 1, at(3));
    }
    s->apply(submitted(8, 4, owner));
    s->apply(eligible(8, 4));
    s->apply(submitted(9, 4, owner));
    s->apply(eligible(9, 4));
    auto values = values_at(*s, 5);
    CHECK(values.at(8) > 0U);
    CHECK(values.at(9) == 0U);
}
