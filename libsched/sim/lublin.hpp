// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Lublin-Feitelson workload model (JPDC 63(11), 2003) with users, accounts and requested times added: sizes
// by a two-stage uniform, run times by a hyper-gamma, arrivals by a gamma under a daily cycle. The clock is a double:
// the reference code cuts it to whole seconds at every arrival, so its daily cycle drifts. Must not know the machine.
#pragma once
#include <cstdint>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/sim/swf.hpp"

namespace weir {

struct LublinSettings {
    std::uint64_t seed = 1;
    std::uint64_t jobs = 1000;
    std::uint32_t cores = 128;  ///< no job is larger; >= 2
    /// One class of jobs, or interactive and batch jobs, each with its own sizes, run times and daily cycle.
    bool two_classes = false;
    /// Offered load on `cores`, set by stretching the arrivals; 0: as the model gives.
    double load = 0.;
    std::uint32_t users = 8;     ///< Zipf-like: user 1 submits most
    std::uint32_t accounts = 3;  ///< user u belongs to account 1 + (u - 1) % accounts
    std::int64_t run_max = 0;    ///< seconds; longer run times are drawn again; 0: the model's own bound (about 45 h)
};

/// Jobs in order of submission. job, submit, run, processors, requested_*, user, group (account) and queue (1
/// interactive, 2 batch) are set; status is 1. The same settings give the same jobs. Error: what is out of range.
Result<std::vector<SwfJob>> generate_lublin(const LublinSettings& settings);

/// A header and a line a job, as SwfReader reads them.
std::string write_swf(const std::vector<SwfJob>& jobs, std::int64_t processors, const std::string& computer);

}  // namespace weir
