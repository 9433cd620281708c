// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the report of a demo as text for people, as JSON and as CSV for programs. Pure.
#pragma once
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"
#include "cmd/demo/checks.hpp"
#include "cmd/demo/report.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {

/// Facts of the whole run.
struct RunFacts {
    std::string workload;  ///< "Lublin-Feitelson, seed 1" or the log's name
    std::int64_t jobs = 0;
    std::int64_t cores = 0;
    double scale = 1;
    Duration span{};         ///< scaled, first submit to last end
    Duration window{};       ///< scaled, first to last submit
    double utilisation = 0;  ///< of the partitions' cores within the window
    Duration real{};         ///< real time of the whole demo
};
struct Report {
    RunFacts facts;
    std::vector<AccountRow> rows;
    std::vector<Check> checks;
    bool holds() const;
};

std::string report_text(const Report& report, const Screen& screen);
/// schema "weir.demo/1"; durations in seconds, shares as fractions.
Json report_json(const Report& report);
/// One line a job, times in seconds since the first submit with six decimals; header line first.
std::string jobs_csv(const std::vector<JobRecord>& jobs, Instant origin);

}  // namespace weir::cmd
