// SPDX-License-Identifier: LGPL-3.0-only
#include <catch2/catch.hpp>

#include "modules/job-priority/jobs/job_book.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

JobRequest asks(const std::string& account, std::int64_t cores) {
    JobRequest request;
    request.account = account;
    request.cores = cores;
    return request;
}

}  // namespace

TEST_CASE("request pool: equal requests are one, and any difference makes another") {
    RequestPool pool;
    const SharedRequest first = pool.intern(asks("bio", 4));
    CHECK(pool.intern(asks("bio", 4)) == first);
    CHECK(pool.intern(asks("bio", 5)) != first);
    JobRequest with_gpus = asks("bio", 4);
    with_gpus.amounts["gpus"] = 1;
    CHECK(pool.intern(with_gpus) != first);
    CHECK(*pool.intern(with_gpus) == with_gpus);
    CHECK(pool.size() == 3);
}

// Mutant: modules/job-priority/jobs/request_pool.hpp: : request_of(a) < request_of(b) => : request_of(a).account <
// request_of(b).account
TEST_CASE("request pool: requests that differ in one field alone are found apart, whichever it is") {
    const auto numbered = [](int field, int i) {
        JobRequest request = asks("bio", 1);
        const std::string text = std::to_string(i);
        switch (field) {
            case 0:
                request.project = text;
                break;
            case 1:
                request.queue_above = text;
                break;
            case 2:
                request.serves = text;
                break;
            case 3:
                request.amounts["gpus"] = i;
                break;
            case 4:
                request.amounts["type" + text] = 1;
                break;
            case 5:
                request.routed_for = i;
                break;
            case 6:
                request.spread = i + 1;
                break;
            default:
                request.wall_time = std::chrono::seconds(i);
                break;
        }
        return request;
    };
    RequestPool pool;
    std::vector<SharedRequest> held;
    for (int field = 0; field < 8; ++field) {
        for (int i = 0; i < 1000; ++i) {
            held.push_back(pool.intern(numbered(field, i)));
        }
    }
    CHECK(pool.size() == 8000);
    for (int field = 0; field < 8; ++field) {
        CHECK(pool.intern(numbered(field, 777)) == held.at(static_cast<std::size_t>(field) * 1000 + 777));
    }
}

TEST_CASE("request pool: what no job asks for any more is forgotten") {
    RequestPool pool;
    const SharedRequest kept = pool.intern(asks("kept", 1));
    for (int i = 0; i < 100000; ++i) {
        (void)pool.intern(asks("user-" + std::to_string(i), i));
    }
    CHECK(pool.size() <= 1001);
    CHECK(pool.intern(asks("kept", 1)) == kept);
}

TEST_CASE("request pool: jobs that ask alike share, and an update of one leaves the other") {
    JobBook book(1);
    for (const FluxJobId id : {1U, 2U}) {
        book.apply({id, at(0), SubmitEvent{5, 16, asks("bio", 4)}});
        book.apply({id, at(1), DependEvent{}});
    }
    CHECK(book.find(1)->request == book.find(2)->request);
    CHECK(book.apply({1, at(2), UpdateEvent{"chem", {}, {}}}).change == BookChange::inputs);
    CHECK(book.find(1)->request->account == "chem");
    CHECK(book.find(2)->request->account == "bio");
}
