// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the two forms of a response of job-manager.events-journal. A request with `together: true` gets {jobs:[...]}
// with the events of many jobs from the embedded broker, which saves most messages of a busy instance. Stock Flux
// ignores the key and sends each job by itself. Must not know: what an event means.
#pragma once
#include "libfairshare/base/flat_json.hpp"

namespace weir::flux {

/// Calls take(job) for each job of a response, in their order; a job may occur several times.
template <typename Take>
void for_each_job(FlatValue response, const Take& take) {
    const FlatValue jobs = response["jobs"];
    if (!jobs.is_array()) {
        take(response);
        return;
    }
    for (FlatValue job = jobs.first(); job; job = job.next()) {
        take(job);
    }
}

}  // namespace weir::flux
