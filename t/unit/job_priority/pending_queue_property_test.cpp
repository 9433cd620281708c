// SPDX-License-Identifier: LGPL-3.0-only
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "modules/job-priority/ranking/pending_queue.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_priority/support.hpp"

using namespace weir;
using namespace weir::priority;
using namespace weir::priority::testing;

// Kills the mutants "the last of a factor's jobs does not learn its new place", "a job that changed its factor stays in
// the old list", "a marked factor is forgotten when another is marked".
TEST_CASE("pending queue: marked jobs and the jobs of marked factors are evaluated, and no others") {
    draw::property("what reaches the pusher is what a map of jobs says", [] {
        PendingQueue queue(settings(), MachineSize{64});
        Pusher pusher;
        std::map<FluxJobId, std::uint32_t> factor_of;
        std::map<FluxJobId, double> evaluated_by;  // the factor's value when the job was evaluated last
        std::vector<double> factors{0., 0., 0.};
        const auto evaluate = [&](bool is_all, const std::set<FluxJobId>& jobs, const std::set<std::uint32_t>& marked) {
            for (const auto& [id, factor] : factor_of) {
                if (is_all || jobs.count(id) != 0 || marked.count(factor) != 0) {
                    evaluated_by[id] = factors[factor];
                }
            }
        };
        std::set<FluxJobId> jobs;
        std::set<std::uint32_t> marked;
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const int what = draw::in_range(0, 10);
            const auto id = draw::in_range<FluxJobId>(1, 12);
            const auto factor = draw::in_range(0U, 3U);
            if (what < 4) {
                BookJob job;
                job.id = id;
                job.submit = at(0);
                queue.put(job, factor);
                factor_of[id] = factor;
                jobs.insert(id);
            } else if (what < 6) {
                queue.remove(id);
                pusher.forget(id);
                factor_of.erase(id);
                jobs.erase(id);
            } else if (what < 8) {
                factors[factor] += 0.01;
                queue.mark_factor(factor);
                marked.insert(factor);
            } else {
                factors[factor] += 0.01;  // nobody is told
                evaluate(what == 9, jobs, marked);
                if (what == 9) {
                    queue.pass(at(0), factors, pusher);
                } else {
                    queue.pass_marked(at(0), factors, pusher);
                }
                jobs.clear();
                marked.clear();
                while (const auto push = pusher.next()) {
                    pusher.acknowledge(1);
                }
                RC_ASSERT(queue.size() == factor_of.size());
                RC_ASSERT(!queue.has_marked());
                for (const auto& [pending, value] : factor_of) {
                    PendingQueue alone(settings(), MachineSize{64});
                    Pusher to;
                    BookJob job;
                    job.id = pending;
                    job.submit = at(0);
                    alone.put(job, 0);
                    alone.pass(at(0), std::vector<double>{evaluated_by.at(pending)}, to);
                    RC_ASSERT(pusher.pushed(pending) == to.next()->jobs.front().second);
                }
            }
        }
        for (std::uint32_t factor = 0; factor < 3; ++factor) {
            const auto same = [factor](const auto& job) { return job.second == factor; };
            RC_ASSERT(queue.count_of(factor) ==
                      static_cast<std::size_t>(std::count_if(factor_of.begin(), factor_of.end(), same)));
        }
    });
}
