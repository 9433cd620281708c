// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the inputs of LSF's dynamic priority. Must not know where they come from or how they are used.
#pragma once

namespace weir {

/// The inputs for one node; an account's is the sum of its children's. Times are in hours, as in LSF.
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
