// SPDX-License-Identifier: LGPL-3.0-only
// What the module sends under each push rule while a real log's jobs wait.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "libsched/sim/simulate.hpp"
#include "modules/job-priority/ranking/pending_queue.hpp"
#include "t/unit/job_priority/support.hpp"
#include "t/unit/libsched/replays.hpp"
#include "t/unit/libsched/trace_files.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

namespace {

/// One instance's queue and the job-manager behind it.
struct Side {
    explicit Side(const Settings& settings, std::int64_t cores)
        : queue(settings, MachineSize{static_cast<std::uint32_t>(cores), 1, 0., 0.}) {}

    void deliver() {
        while (const auto push = pusher.next()) {
            for (const auto& [id, value] : push->jobs) {
                sent_again += values.count(id);
                values[id] = value;
            }
            pusher.acknowledge(1);
        }
    }
    void start(FluxJobId id) {
        queue.remove(id);
        pusher.forget(id);
        values.erase(id);
    }

    PendingQueue queue;
    Pusher pusher;
    std::map<FluxJobId, std::uint32_t> values;
    std::uint64_t sent_again = 0;
};

/// Jobs by the values sent, as a job-manager sorts them.
std::vector<JobId> as_sent(const Side& side) {
    std::vector<QueueKey> keys;
    for (const auto& [id, value] : side.values) {
        keys.push_back({value, side.queue.engine().inputs(*side.queue.find(id)).submit, JobId{id}});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<JobId> ids;
    std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const QueueKey& key) { return key.id; });
    return ids;
}

/// Jobs by their priorities with what stands behind the point.
std::vector<JobId> as_meant(const Side& side, Instant now, std::span<const double> factors) {
    const PriorityEngine& engine = side.queue.engine();
    std::vector<std::pair<std::int64_t, QueueKey>> keys;
    for (const auto& [id, value] : side.values) {
        const PriorityEngine::Slot slot = *side.queue.find(id);
        keys.push_back({-engine.fine_priority(slot, now, factors), {0, engine.inputs(slot).submit, JobId{id}}});
    }
    std::sort(keys.begin(), keys.end());
    std::vector<JobId> ids;
    std::transform(keys.begin(), keys.end(), std::back_inserter(ids), [](const auto& key) { return key.second.id; });
    return ids;
}

}  // namespace

// Kills: a full pass that hands over the numbers under the rule "order"; a value for an event that no pass corrects; a
// started job's value kept for the next job in its slot.
TEST_CASE("push rule: on a real log the order needs a fiftieth of the numbers, and is exact after each pass") {
    const auto folder = weir::test::traces();
    if (!folder) {
        return;
    }
    auto log = weir::test::load_trace(*folder / "KTH-SP2-1996.swf.gz");
    log.jobs.resize(2000);
    const auto outcomes = weir::test::replay(log.jobs, log.cores, Easy{}, nullptr);
    Settings settings = weir::priority::testing::settings();
    settings.wait_after = {.time = {}};
    Side numbers(settings, log.cores);
    settings.push = config::PushRule::order;
    Side order(settings, log.cores);
    std::multimap<Instant, const Outcome*> submissions;
    std::multimap<Instant, const Outcome*> starts;
    std::multimap<Instant, const Outcome*> ends;
    for (const Outcome& outcome : outcomes) {
        submissions.emplace(outcome.job.submit, &outcome);
        starts.emplace(outcome.start, &outcome);
        ends.emplace(outcome.end(), &outcome);
    }
    constexpr std::uint32_t users = 64;
    std::vector<double> factors(users, 1.);
    std::vector<double> used(users, 0.);
    std::vector<double> running(users, 0.);
    const auto user_of = [](const Outcome& outcome) { return outcome.job.user % users; };
    const auto take = [](auto& agenda, Instant now, auto what) {
        while (!agenda.empty() && agenda.begin()->first <= now) {
            what(*agenda.begin()->second);
            agenda.erase(agenda.begin());
        }
    };
    for (Instant now = log.jobs.front().submit; !starts.empty(); now += std::chrono::seconds(30)) {
        take(submissions, now, [&](const Outcome& outcome) {
            BookJob job;
            job.id = outcome.place + 1;
            job.submit = outcome.job.submit;
            JobRequest request;
            request.cores = outcome.job.cores;
            job.request = std::make_shared<const JobRequest>(std::move(request));
            job.ageing = Ageing(AgeRule::since_submit, outcome.job.submit);
            for (Side* side : {&numbers, &order}) {
                side->queue.put(job, user_of(outcome));
                if (outcome.place % 3 != 0) {  // the others wait for the full pass
                    side->queue.pass_marked(now, factors, side->pusher);
                    side->deliver();
                }
            }
        });
        take(starts, now, [&](const Outcome& outcome) {
            numbers.start(outcome.place + 1);
            order.start(outcome.place + 1);
            running[user_of(outcome)] += outcome.job.cores;
        });
        take(ends, now, [&](const Outcome& outcome) { running[user_of(outcome)] -= outcome.job.cores; });
        for (std::uint32_t user = 0; user < users; user++) {
            used[user] = used[user] * (1 - 30. / (7 * 86400)) + running[user] * 30.;
            factors[user] = std::exp2(-used[user] / (static_cast<double>(log.cores) * 3600.));
        }
        numbers.queue.pass(now, factors, numbers.pusher);
        order.queue.pass(now, factors, order.pusher);
        numbers.deliver();
        order.deliver();
        REQUIRE(order.values.size() == order.queue.engine().size());
        REQUIRE(as_sent(order) == as_meant(order, now, factors));
    }
    INFO("numbers sent again " << numbers.sent_again << ", values of the order " << order.sent_again);
    CHECK(order.sent_again * 50 <= numbers.sent_again);
    CHECK(order.sent_again > 0);
}

TEST_CASE("push rule: changing it sends everything anew, and explain has both the priority and what was sent") {
    Settings settings = weir::priority::testing::settings();
    Side side(settings, 64);
    BookJob job;
    job.id = 7;
    job.submit = at(0);
    side.queue.put(job, 0);
    const std::vector<double> factors{0.5};
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    const std::uint32_t number = side.values.at(7);
    settings.push = config::PushRule::order;
    side.queue.configure(settings, MachineSize{64, 1, 0., 0.}, {});
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    CHECK(side.values.at(7) > 1U << 30);
    CHECK(side.queue.engine().pushed(*side.queue.find(7)) == number);
    settings.push = config::PushRule::numbers;
    side.queue.configure(settings, MachineSize{64, 1, 0., 0.}, {});
    side.queue.pass(at(0), factors, side.pusher);
    side.deliver();
    CHECK(side.values.at(7) == number);
}
