// SPDX-License-Identifier: LGPL-3.0-only
// Owns: how people and programs are told of jobs that never started. Must not know why a job waits.
#pragma once
#include <string>

#include "cmd/common/text.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libsched/sim/simulate.hpp"

namespace weir::cmd {

/// "11 jobs never started: a limit keeps them out; first: job 16"; empty: there are none.
inline std::string never_started_text(const NeverStarted& jobs) {
    const std::string first = std::to_string(jobs.first);
    return jobs.count == 0   ? ""
           : jobs.count == 1 ? "1 job never started: a limit keeps it out: job " + first
                             : grouped(static_cast<std::int64_t>(jobs.count)) +
                                   " jobs never started: a limit keeps them out; first: job " + first;
}

/// Members "never_started" and "first_never_started"; the latter is null where there are none.
inline void add_never_started(Json& out, const NeverStarted& jobs) {
    out.set("never_started", jobs.count);
    if (jobs.count > 0) {
        out.set("first_never_started", static_cast<long long>(jobs.first));
    } else {
        out.set("first_never_started", Json::own(json_null()));
    }
}

}  // namespace weir::cmd
