// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/common/memos.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace weir::flux;

namespace {
using Sent = std::vector<std::pair<std::uint64_t, std::string>>;

}  // namespace

TEST_CASE("memos: a reason is told once, and withdrawn when it is gone") {
    Memos memos;
    std::map<std::uint64_t, std::string> reasons{{7, "limit"}};
    const auto reason_of = [&](std::uint64_t id) { return reasons[id]; };
    memos.mark(7, true);
    memos.mark(8, false);
    CHECK(memos.take(10, reason_of) == Sent{{7, "limit"}});
    CHECK_FALSE(memos.has_work());
    reasons.clear();
    memos.mark(7, false);
    CHECK(memos.take(10, reason_of) == Sent{{7, ""}});
    memos.mark(7, false);
    CHECK_FALSE(memos.has_work());
}

TEST_CASE("memos: a job that was admitted before its memo went out gets none") {
    Memos memos;
    memos.mark(7, true);
    CHECK(memos.take(10, [](std::uint64_t) { return std::string(); }).empty());
    CHECK_FALSE(memos.has_work());
}

TEST_CASE("memos: they go out in portions; after a restart of the job-manager all again") {
    Memos memos;
    const auto reason_of = [](std::uint64_t) { return std::string("limit"); };
    for (std::uint64_t id = 1; id <= 3; ++id) {
        memos.mark(id, true);
    }
    CHECK(memos.take(2, reason_of).size() == 2);
    CHECK(memos.take(2, reason_of).size() == 1);
    memos.restart();
    memos.mark(2, false);
    CHECK_FALSE(memos.has_work());
    memos.mark(2, true);
    memos.forget(2);
    CHECK_FALSE(memos.has_work());
}
