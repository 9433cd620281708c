// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the facts for the pictures, from the results of a demo.
#include "cmd/demo/page.hpp"

#include <algorithm>

namespace weir::cmd {

InstanceFacts demo_facts(const Findings& findings, const FullestMoment& fullest, double half_life_s) {
    const RunFacts& run = findings.report.facts;
    const double now = fullest.view.now;
    InstanceFacts facts;
    facts.title = "A run of weir demo on " + grouped(run.cores) + " cores";
    facts.subtitle = grouped(run.jobs) + " jobs (" + run.workload + ") in " + duration_text(run.span) +
                     " of the instance's clock. This is its state after " + duration_text(fullest.at) +
                     ", when most jobs were pending.";
    facts.rows = share_rows_of(fullest.view);
    facts.all_core_s = fullest.view.all_core_s;
    facts.decay.half_life_s = half_life_s;
    for (const JobRecord& job : findings.jobs) {
        if (job.has_run() && to_seconds(job.alloc) < now) {
            facts.charges.push_back({job.account + "/@" + job.user, static_cast<double>(job.cores),
                                     to_seconds(job.alloc) - now, std::min(0., to_seconds(job.free) - now)});
        }
    }
    facts.known_since_s = std::min(0., to_seconds(findings.first_submit) - now);
    facts.queue = fullest.queue.queue;
    facts.pending = fullest.queue.pending;
    facts.top = fullest.top;
    return facts;
}

}  // namespace weir::cmd
