// SPDX-License-Identifier: LGPL-3.0-only
// Owns: after the run: asking the ledgers and the journals, and putting report and checks together.
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

/// Asks until the last reports have arrived at the parent (all checks hold) or `patience` of real time is over.
Result<Findings> findings_of(const Workload& workload, Session& session, Signals& signals, Duration patience);

}  // namespace weir::cmd
