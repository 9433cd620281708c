// SPDX-License-Identifier: LGPL-3.0-only
// Whatever jobs ask for, the usage that is written can be read back.
#include <catch2/catch.hpp>

#include "modules/job-priority/state/memory_store.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

constexpr int jobs_max = 20;
constexpr std::int64_t cores_max = 10'000'000;  // 20 such jobs hold almost 2^28 cores

/// Half-lives and intervals from an hour to a hundred years.
Settings site() {
    Settings with = settings();
    with.billing.charging = Charging::at_dispatch;
    with.decay = draw::element(DecayKind::half_life, DecayKind::window, DecayKind::none);
    const Duration scale = std::chrono::hours(draw::element(1, 24, 24 * 16, 24 * 36525));
    with.half_life = scale;
    with.window.interval = scale;
    return with;
}

JobEvent asked(FluxJobId id, double t) {
    JobEvent event = submitted(id, t, bob);
    const std::int64_t wall_us = std::int64_t{1} << draw::in_range(20, 63);
    std::get<SubmitEvent>(event.what).request.wall_time = Duration{wall_us - 1};
    return event;
}

CoreMicros usage_of_bio(const PriorityService& s, double t) {
    return measured_at(s, at(t)).usage.usage.at(s.accounting().tree().find("bio")->value);
}

}  // namespace

// Mutant: modules/job-priority/jobs/job_cost.cpp: std::min(request.wall_time, bill_time_max) => request.wall_time
// Mutant: libfairshare/usage/window.cpp: __int128{1} << 120 => __int128{1} << 70
TEST_CASE("saved usage: what jobs are charged at dispatch is read back, whatever they ask for") {
    draw::property("restore", [] {
        const Settings with = site();
        auto s = service(false, with);
        put_tree(*s);
        s->begin_backlog();
        s->end_backlog(at(0));
        const int jobs = draw::in_range(1, jobs_max + 1);
        double t = 1;
        for (int i = 1; i <= jobs; ++i) {
            const auto id = static_cast<FluxJobId>(i);
            s->apply(asked(id, t));
            s->apply(eligible(id, t));
            s->apply(started(id, t, draw::in_range<std::int64_t>(1, cores_max)));
            t += draw::in_range(0, 200'000);
            if (draw::arbitrary<bool>()) {
                s->apply(freed(id, t));
            }
        }
        MemoryStore store;
        s->log().want_checkpoint();
        store.apply(s->take_batch());
        auto again = service(false, with);
        const auto restored = again->restore(store.saved(), at(t));
        RC_ASSERT(restored.has_value());
        RC_ASSERT(usage_of_bio(*again, t) == usage_of_bio(*s, t));
    });
}
