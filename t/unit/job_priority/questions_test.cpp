// SPDX-License-Identifier: LGPL-3.0-only
// Whoever asks changes nothing: neither the share tree nor what is written of it.
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
