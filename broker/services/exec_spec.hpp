// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that job-exec reads from a job's jobspec and R. Must not know processes or messages.
// Source: RFC 14, 25 (jobspec), RFC 20 (R); flux-core's job-exec test execution for attributes.system.exec.test.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct ExecSpec {
    std::vector<std::string> command;
    std::string cwd;                                                // empty: the broker's
    std::optional<std::map<std::string, std::string>> environment;  // nothing: the broker's
    std::uint32_t task_count = 1;
    std::uint32_t node_count = 1;
    double duration = 0;  // time limit, seconds; 0: none
    std::string output;   // file that the user named; empty: the job's own
    /// Simulated execution: no process, ends after this many seconds with `simulated_status`.
    std::optional<double> simulated;
    int simulated_status = 0;
};

/// \return an error that names the attribute and what is right.
Result<ExecSpec> read_exec_spec(const Json& jobspec, const Json& r);

/// Replaces {{id}}, {{jobid}} and {{id.f58}} in a file name by the job's id.
std::string fill_in_id(std::string name, const std::string& id);

}  // namespace weir::broker
