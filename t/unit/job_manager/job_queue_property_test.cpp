// SPDX-License-Identifier: LGPL-3.0-only
// Property: however jobs join, leave and change priority, the queue's order is the stable sort by priority (highest
//   first) of those in it, ids breaking ties.
// Kills: `a.priority <=> b.priority` in QueueKey's comparison (order reversed); reorder() without erase(); insert()
//   that does not remember the key.
#include <algorithm>
#include <catch2/catch.hpp>

#include "broker/services/job-manager/tables/job_queue.hpp"
#include "t/unit/draws.hpp"

using namespace weir::broker::jobs;

TEST_CASE("queue: order is the stable sort by priority") {
    draw::property("queue order", [] {
        std::vector<std::unique_ptr<Job>> jobs;
        JobQueue queue;
        const int n = draw::in_range(1, 30);
        for (int i = 0; i < n; ++i) {
            jobs.push_back(std::make_unique<Job>());
            jobs.back()->id = static_cast<JobId>(i + 1);
        }
        std::vector<bool> is_in(jobs.size(), false);
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const std::size_t which = draw::index(jobs.size());
            const int priority = draw::in_range(0, 6);
            Job& job = *jobs[which];
            if (!is_in[which]) {
                job.priority = priority;
                queue.insert(job);
                is_in[which] = true;
            } else if (priority == 0) {
                queue.erase(job);
                is_in[which] = false;
            } else {
                job.priority = priority;
                queue.reorder(job);
            }
        }
        std::vector<const Job*> expected;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (is_in[i]) {
                expected.push_back(jobs[i].get());
            }
        }
        std::stable_sort(expected.begin(), expected.end(),
                         [](const Job* a, const Job* b) { return a->priority > b->priority; });
        std::vector<const Job*> actual;
        for (const auto& entry : queue) {
            actual.push_back(entry.job);
        }
        RC_ASSERT(actual == expected);
    });
}
