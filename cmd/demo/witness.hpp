// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the ledgers and the journals after the run, and making report and checks from them.
#pragma once
#include "cmd/demo/report_text.hpp"
#include "cmd/demo/workload.hpp"
#include "cmd/instance/session.hpp"

namespace weir::cmd {

struct Findings {
    Report report;
    std::vector<JobRecord> jobs;
    Instant first_submit{};
};

/// Repeats until the last reports have arrived at the parent (all checks pass) or `patience` of real time is over.
/// `scale`: of the clock.
Result<Findings> findings_of(const Workload& workload, Session& session, Signals& signals, double scale,
                             Duration patience);

}  // namespace weir::cmd
