// SPDX-License-Identifier: LGPL-3.0-only
// Owns: jobspec version 1 (RFC 14, 25) as far as scheduling and charging need it, to and from a value. Must not know
// environments, file archives and shell options, which are ignored.
// The job-manager reads jobspecs by a codec of its own (broker/services/job-manager/codecs/jobspec.hpp): it keeps the
// document, changes it and shows it to users. This codec asks what a job needs and refuses what cannot be scheduled.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libsched/job.hpp"

namespace weir {

struct Jobspec {
    Request request;
    Duration limit = Duration::max();  ///< system.duration; max: none given (0 or absent)
    // attributes.system, empty when absent
    std::string queue;
    std::string account;  ///< "bank" on the wire
    std::string qos;
    std::string name;  ///< system.job.name
    std::string cwd;
    std::string constraints;               ///< system.constraints as compact JSON, see constraint.hpp
    std::optional<Duration> run_duration;  ///< system.exec.test.run_duration: the job is simulated for so long
    // attributes.system.weir: memory_per_slot ("4GiB", into request); a job that a parent instance routed, and what a
    // child instance serves
    std::optional<std::uint32_t> weir_userid;
    std::optional<JobId> weir_jobid;
    std::optional<Instant> weir_submit;  ///< when its user submitted it to the instance above
    std::vector<std::string> weir_serves;
    // tasks[0]
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;
    friend bool operator==(const Jobspec&, const Jobspec&) = default;
};

/// Errors name the path: "jobspec: resources[0].with[0].count: must be ...". Accepts slot > core (gpu) and
/// node > slot > core (gpu); durations as numbers or FSD strings.
Result<Jobspec> decode_jobspec(json_t* document);
Result<Jobspec> decode_jobspec(std::string_view text);
/// decode_jobspec(encode_jobspec(j)) == j.
Json encode_jobspec(const Jobspec& jobspec);

}  // namespace weir
