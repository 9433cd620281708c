// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

double waited(const JobBook& book, FluxJobId id, double t) {
    return to_seconds(book.find(id)->ageing.wait(at(t)));
}

}  // namespace

TEST_CASE("book: a job ages from when it is eligible, not from submission") {
    JobBook book(owner);
    book.apply(submitted(1, 0, alice));
    CHECK_FALSE(book.find(1)->is_pending());
    CHECK(waited(book, 1, 50) == 0);
    CHECK(book.apply(eligible(1, 100)).change == BookChange::inputs);
    CHECK(waited(book, 1, 150) == 50);
    CHECK(waited(book, 1, 90) == 0);
}

TEST_CASE("book: a held job does not age, and keeps what it had when it is released") {
    JobBook book(owner);
    book.apply(submitted(1, 0, alice));
    book.apply(eligible(1, 0));
    CHECK(book.apply(urgency(1, 10, urgency_held)).change == BookChange::inputs);
    CHECK(waited(book, 1, 500) == 10);
    book.apply(urgency(1, 1000, 16));
    CHECK(waited(book, 1, 1005) == 15);
}

TEST_CASE("book: a job submitted on hold begins to age with its release") {
    JobBook book(owner);
    book.apply(submitted(1, 0, alice, "", urgency_held));
    book.apply(eligible(1, 0));
    CHECK(book.find(1)->is_pending());
    book.apply(urgency(1, 100, 16));
    CHECK(waited(book, 1, 130) == 30);
}

TEST_CASE("book: resources end the waiting, clean ends the job") {
    JobBook book(owner);
    book.apply(submitted(1, 0, alice));
    book.apply(eligible(1, 0));
    CHECK(book.apply(started(1, 10, 4)).change == BookChange::started);
    CHECK(book.apply(started(1, 11, 4)).change == BookChange::none);
    CHECK(waited(book, 1, 99) == 10);
    CHECK(book.apply(urgency(1, 12, 20)).change == BookChange::none);
    CHECK(book.apply(freed(1, 20)).change == BookChange::ended);
    CHECK(book.apply(freed(1, 21)).change == BookChange::none);
    CHECK(book.apply(cleaned(1, 22)).change == BookChange::gone);
    CHECK(book.size() == 0);
}

TEST_CASE("book: events of unknown jobs and a second submit are ignored") {
    JobBook book(owner);
    CHECK(book.apply(eligible(1, 0)).change == BookChange::none);
    book.apply(submitted(1, 0, alice));
    book.apply(submitted(1, 5, bob));
    CHECK(book.find(1)->userid == alice);
}

TEST_CASE("book: an event tells whether its job is new, and what a job that is gone was") {
    JobBook book(owner);
    CHECK(book.apply(submitted(1, 0, alice)).is_new);
    CHECK_FALSE(book.apply(submitted(1, 0, alice)).is_new);
    CHECK_FALSE(book.apply(eligible(1, 1)).is_new);
    CHECK_FALSE(book.apply(eligible(2, 1)).is_active());
    CHECK(book.apply(started(1, 2, 4)).is_active());
    CHECK(book.lacks_free(cleaned(1, 3)));
    CHECK_FALSE(book.lacks_free(freed(1, 3)));
    book.apply(freed(1, 3));
    CHECK_FALSE(book.lacks_free(cleaned(1, 4)));
    const AppliedEvent gone = book.apply(cleaned(1, 4));
    REQUIRE(gone.job != nullptr);
    CHECK(gone.job->userid == alice);
    CHECK_FALSE(gone.is_active());
}

TEST_CASE("book: only the instance owner may submit in the name of another user") {
    JobBook book(owner);
    JobEvent routed = submitted(1, 0, owner);
    std::get<SubmitEvent>(routed.what).request.routed_for = alice;
    JobEvent forged = submitted(2, 0, bob);
    std::get<SubmitEvent>(forged.what).request.routed_for = alice;
    book.apply(routed);
    book.apply(forged);
    CHECK(book.find(1)->charged_userid() == alice);
    CHECK(book.find(2)->charged_userid() == bob);
}

TEST_CASE("book: an update of the account matters while the job waits") {
    JobBook book(owner);
    book.apply(submitted(1, 0, alice, "bio"));
    book.apply(eligible(1, 0));
    CHECK(book.apply({1, at(1), UpdateEvent{"physics/lattice", {}, {}, {}}}).change == BookChange::inputs);
    CHECK(book.apply({1, at(2), UpdateEvent{"physics/lattice", {}, {}, {}}}).change == BookChange::none);
    CHECK(book.find(1)->request->account == "physics/lattice");
}

// Mutant: modules/job-priority/jobs/job_book.cpp: *event.account == event.filled_in.value_or(filled_in) => true
// Mutant: modules/job-priority/jobs/job_event.hpp: !account.empty() && !is_account_filled_in => !account.empty()
TEST_CASE("book: an account that was filled in is not one that the owner named: a child in the job is a partition") {
    JobBook book(owner);
    const auto update = [&](const char* account, std::optional<std::string> filled_in = {}) {
        UpdateEvent event{account, {}, {}, {}};
        event.filled_in = std::move(filled_in);
        book.apply({1, at(1), event});
        return book.is_partition(*book.find(1));
    };
    book.apply(submitted(1, 0, owner));
    CHECK(book.is_partition(*book.find(1)));
    CHECK(update("bio", "bio"));
    CHECK(book.find(1)->request->account == "bio");
    CHECK(update("bio"));
    CHECK_FALSE(update("chem"));
    CHECK_FALSE(update("bio"));
    // A backlog has the jobspec after all updates, and then each of them.
    book.clear();
    JobEvent replayed = submitted(1, 0, owner, "chem");
    book.apply(replayed);
    CHECK_FALSE(book.is_partition(*book.find(1)));
    CHECK(update("bio", "bio"));
    CHECK_FALSE(update("chem"));
}
