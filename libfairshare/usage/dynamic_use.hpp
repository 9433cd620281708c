// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what LSF's dynamic priority weighs, as numbers. Must not know where they come from or what is made of them.
#pragma once

namespace weir {

/// What LSF weighs, of one node; an account's is the sum of its children's. Times in hours, as LSF counts them.
struct DynamicUse {
    double cpu_time_h = 0;            ///< of running and finished jobs, decayed
    double run_time_h = 0;            ///< of running jobs
    double hist_run_time_h = 0;       ///< of finished jobs, decayed
    double committed_run_time_h = 0;  ///< requested by the running jobs
    double gpu_run_time_h = 0;        ///< run time x GPUs, history included where the site counts it
    double job_slots = 0;             ///< in use and reserved
    double adjustment = 0;            ///< the site's own term
    friend bool operator==(const DynamicUse&, const DynamicUse&) = default;
};

}  // namespace weir
