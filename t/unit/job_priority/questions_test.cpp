// SPDX-License-Identifier: LGPL-3.0-only
// Whoever asks changes nothing: neither the share tree nor what is written of it. And what the list of waiting jobs
// has.
#include <catch2/catch.hpp>

#include "modules/job-priority/messages/views.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// What a question must leave as it is.
struct Kept {
    std::uint32_t nodes;
    std::int64_t revision;
    std::uint64_t accounts_version;
    bool is_dirty;
    bool operator==(const Kept&) const = default;
};

Kept kept(const PriorityService& service) {
    return {service.accounting().tree().size(), service.trees().in_force().revision, service.accounts_version(),
            service.log().is_dirty()};
}

/// Every question that a guest may ask of the queue and the tree.
void ask_all(const PriorityService& service, FluxJobId id, Instant now) {
    (void)explain_view(service, id, now);
    (void)when_view(service, id, id + 1, now);
    (void)list_view(service, now, {});
    (void)places_view(service, now, {id});
    (void)tree_view(service, now);
    (void)usage_view(service, now);
    (void)share_explain_view(service, "bio/@carol", now);
    (void)share_compare_view(service, "bio/@bob", "bio/@carol", now);
}

}  // namespace

TEST_CASE("questions: the list of a queue has its first jobs, with their places in it", "[questions]") {
    auto service = ready_service();
    for (const FluxJobId id : {1, 2, 3, 4}) {
        JobRequest request;
        request.queue = id == 1 ? "" : id == 2 ? "debug" : "batch";
        service->apply({id, at(static_cast<double>(id)), SubmitEvent{bob, 16, request}});
        service->apply(eligible(id, static_cast<double>(id)));
    }
    service->pass(at(10));
    const auto listed = [&](const ListQuery& query) {
        std::vector<std::pair<FluxJobId, json_int_t>> found;
        const Json view = list_view(*service, at(10), query);
        const json_t* jobs = json_object_get(view.get(), "jobs");
        for (std::size_t i = 0; i < json_array_size(jobs); ++i) {
            const json_t* job = json_array_get(jobs, i);
            found.emplace_back(json_integer_value(json_object_get(job, "id")),
                               json_integer_value(json_object_get(job, "rank")));
        }
        return found;
    };
    using Listed = std::vector<std::pair<FluxJobId, json_int_t>>;
    CHECK(listed({1, std::nullopt, "", "batch"}) == Listed{{3, 1}});
    CHECK(listed({2, std::nullopt, "", "batch"}) == Listed{{3, 1}, {4, 2}});
    CHECK(listed({2, std::nullopt, "", ""}) == Listed{{1, 1}});
    CHECK(listed({2, std::nullopt, "", "none"}).empty());
    CHECK(listed({0, std::nullopt, "", std::nullopt}).size() == 4);
}

// Mutant: modules/job-priority/messages/views_when.cpp: if (is_a_held_back != => if (is_a_held_back && !
TEST_CASE("questions: a job that a limit holds back is ahead of none", "[questions]") {
    auto service = weir::priority::testing::service();
    put_tree(*service,
             "\"bio\" = { shares = 9, running_jobs_max = 1 }\n\"bio/@bob\" = 1\n"
             "\"chem\" = 1\n\"chem/@alice\" = 1\n");
    service->begin_backlog();
    service->end_backlog(at(0));
    for (const FluxJobId id : {1, 2, 3}) {
        service->apply(submitted(id, 1, id == 3 ? alice : bob, "", id == 3 ? 1 : 30));  // by priority 2 is ahead of 3
        service->apply(eligible(id, 1));
    }
    service->apply(submitted(4, 1, alice));  // takes from her fair share
    service->pass(at(1));
    service->apply(started(1, 1, 1));
    service->apply(started(4, 1, 1));
    service->pass(at(2));
    CHECK(service->ranking().fine_priority(2, at(2)) > service->ranking().fine_priority(3, at(2)));
    const Json list = list_view(*service, at(2), {});
    const json_t* last = json_array_get(json_object_get(list.get(), "jobs"), 1);
    CHECK(json_integer_value(json_object_get(last, "id")) == 2);
    CHECK(json_integer_value(json_object_get(last, "rank")) == 2);
    CHECK(json_is_true(json_object_get(last, "is_held_back")));
    const Json first = explain_view(*service, 3, at(2)).value();
    CHECK(json_integer_value(json_object_get(first.get(), "rank")) == 1);
    CHECK(json_array_size(json_object_get(first.get(), "ahead")) == 0);
    for (const auto& [a, b] : {std::pair(2, 3), std::pair(3, 2)}) {
        const Json when = when_view(*service, static_cast<FluxJobId>(a), static_cast<FluxJobId>(b), at(2)).value();
        CHECK(json_integer_value(json_object_get(when.get(), "ahead")) == 3);
        CHECK(json_array_size(json_object_get(when.get(), "crossings")) == 0);
    }
    // Nor is a held job held back by the limit, which does not count it.
    service->apply(urgency(2, 3, 0));
    service->pass(at(3));
    CHECK_FALSE(json_is_true(json_object_get(
        json_array_get(json_object_get(list_view(*service, at(3), {}).get(), "jobs"), 1), "is_held_back")));
}

TEST_CASE("questions: explain of a job whose user is not in the tree yet admits nobody", "[questions]") {
    auto service = ready_service();
    service->apply(submitted(1, 1, carol, "bio"));  // its dependencies are not met
    (void)service->take_batch();
    const Kept before = kept(*service);
    const auto view = explain_view(*service, 1, at(2));
    REQUIRE(view);
    CHECK(kept(*service) == before);
    CHECK(std::string(json_string_value(json_object_get(view->get(), "account"))) == "bio");
    ask_all(*service, 1, at(2));
    CHECK(kept(*service) == before);
}

TEST_CASE("questions: a child that goes by its parent's factors admits nobody when it is asked", "[questions]") {
    auto service = weir::priority::testing::service(true);
    put_tree(*service);
    service->begin_backlog();
    service->end_backlog(at(0));
    service->take_parent_factors({{carol, "carol", "bio", 0.5, true}}, true);
    service->apply(submitted(1, 1, carol, "bio"));
    service->apply(eligible(1, 1));
    service->pass(at(2));
    (void)service->take_batch();
    const Kept before = kept(*service);
    const auto view = explain_view(*service, 1, at(2));
    REQUIRE(view);
    CHECK(std::string(json_string_value(json_object_get(view->get(), "account"))) == "bio");
    ask_all(*service, 1, at(2));
    CHECK(kept(*service) == before);
}

TEST_CASE("questions: a waiting job is listed with the association that pays for it", "[questions]") {
    auto service = ready_service();
    service->apply(submitted(1, 1, carol, "bio"));
    service->apply(eligible(1, 1));
    service->pass(at(2));
    const auto view = explain_view(*service, 1, at(2));
    REQUIRE(view);
    CHECK(service->accounting().tree().find("bio/@carol"));
    const std::string words = json_string_value(json_array_get(json_object_get(view->get(), "words"), 1));
    CHECK(words == "It uses the share of carol in bio.");
}

TEST_CASE("payers: one event resolves its job's payer once, whatever the stages do with it", "[payers]") {
    Settings with = settings();
    with.policy = PolicyKind::moab;
    auto service = weir::priority::testing::service(false, with);
    put_tree(*service, "\"bio\" = { shares = 1, running_jobs_max = 5 }\n\"bio/@carol\" = 1\n");
    REQUIRE(service->gate().is_limited());
    service->begin_backlog();
    service->end_backlog(at(0));
    std::uint64_t resolved = service->membership().resolved();
    for (const JobEvent& event : {submitted(1, 1, carol, "bio"), eligible(1, 1), urgency(1, 2, 20), started(1, 3, 4),
                                  freed(1, 4), cleaned(1, 5)}) {
        service->apply(event);
        CHECK(service->membership().resolved() - resolved <= 1);
        resolved = service->membership().resolved();
    }
}
