// SPDX-License-Identifier: LGPL-3.0-only
#include "modules/job-priority/sends/sends.hpp"

#include <catch2/catch.hpp>

#include "t/unit/job_priority/support.hpp"

using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// A job that waits, to which the plugin and the scheduler have a value.
struct Sent {
    StateLog log;
    JobBook book{owner};
    Sends sends{log, false};

    Sent() {
        apply(submitted(1, 0, alice));
        apply(eligible(1, 1));
        sends.plugin().want(1, 40);
        sends.scheduler().want(1, {3, 50});
        deliver(sends.plugin());
        (void)sends.scheduler().next();
        sends.scheduler().acknowledge(1);
    }
    void apply(const JobEvent& event) { sends.apply(book.apply(event)); }
    static std::vector<std::pair<std::uint64_t, std::uint32_t>> deliver(Pusher& to) {
        const auto push = to.next();
        if (push) {
            to.acknowledge(1);
        }
        return push ? push->jobs : std::vector<std::pair<std::uint64_t, std::uint32_t>>{};
    }
};

using Jobs = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

}  // namespace

// The scheduler may have been told of the job after it had started it.
TEST_CASE("sends: of a job that starts or is gone, the scheduler's part is taken back") {
    for (const JobEvent& event : {started(1, 2, 4), cleaned(1, 2)}) {
        Sent sent;
        sent.apply(event);
        CHECK(sent.sends.plugin().pending() == 0);
        CHECK_FALSE(sent.sends.plugin().has_work());
        const auto change = sent.sends.scheduler().next();
        REQUIRE(change);
        CHECK(change->gone == std::vector<weir::JobId>{weir::JobId{1}});
    }
}

TEST_CASE("sends: a job that is held back has the priority 0 and a memo, until it starts") {
    Sent sent;
    sent.sends.hold_back(1, true);
    CHECK(Sent::deliver(sent.sends.plugin()) == Jobs{{1, 0}});
    const auto reason_of = [](FluxJobId) { return std::string("limit"); };
    CHECK(sent.sends.memos().take(10, reason_of).size() == 1);
    sent.apply(started(1, 2, 4));
    CHECK(sent.sends.memos().has_work());  // its memo is to be withdrawn
    CHECK_FALSE(sent.sends.plugin().has_work());
}

TEST_CASE("sends: the plugin is told each time that a held or expedited job has no value of ours") {
    Sent sent;
    sent.apply(submitted(2, 2, alice, "", urgency_expedited));
    sent.apply(eligible(2, 2));
    CHECK(Sent::deliver(sent.sends.plugin()) == Jobs{{2, Push::overridden}});
    sent.apply(urgency(2, 3, urgency_held));
    CHECK(Sent::deliver(sent.sends.plugin()) == Jobs{{2, Push::overridden}});
}

TEST_CASE("sends: after a backlog only its pending jobs have values") {
    Sent sent;
    sent.sends.plugin().want(2, 30);
    sent.sends.end_backlog({2});
    CHECK_FALSE(sent.sends.plugin().has_wanted(1));
    CHECK(sent.sends.plugin().has_wanted(2));
    CHECK(sent.sends.scheduler().next()->gone.size() == 1);
}
