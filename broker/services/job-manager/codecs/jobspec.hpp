// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and checking a jobspec V1: validity, the facts for lists, redaction, updates.
// Must not know: queues' configuration (queues.hpp), flux_t, files.
// RFC 14, RFC 25 (jobspec V1), RFC 26 (dependencies), RFC 31 (constraints).
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/services/job-manager/state/job.hpp"
#include "libfairshare/base/flat_json.hpp"

namespace weir::broker::jobs {

/// Checks a jobspec V1. Error: "jobspec: PATH: what is wrong and what is right", for the first bad key in document
/// order.
Status validate_jobspec(const json_t* jobspec);

/// Of an invalid jobspec whatever can be read. ncores is -1 when only R has the number (exclusive nodes).
JobspecFacts jobspec_facts(FlatValue jobspec);
JobspecFacts jobspec_facts(std::string_view jobspec);

/// The tasks of a job; -1 as long as only R can tell: as many a core or a node as were given.
int task_count(const Job& job);

/// What a job asks for in all. Exclusive nodes count with the cores that are asked for on them. A number beyond that of
/// an int is the largest int.
struct JobSize {
    int nodes = 0, cores = 0, gpus = 0;
};
JobSize jobspec_size(std::string_view jobspec);

/// The facts that only lists need. They are read on demand, to save memory of pending jobs. Empty: absent.
struct JobspecNames {
    std::string name, cwd, project, bank;
};
JobspecNames jobspec_names(std::string_view jobspec);
/// attributes.system.job.name alone; empty where the name would be that of the command.
std::string explicit_name(std::string_view jobspec);

/// Environments as text; equal ones share one copy as long as a job uses it.
class EnvironmentPool {
  public:
    std::shared_ptr<const std::string> intern(std::string text);
    std::size_t size() const { return pool_.size(); }

  private:
    std::unordered_map<std::string_view, std::weak_ptr<const std::string>> pool_;
};

/// Splits a jobspec: removes attributes.system.environment from `jobspec` and returns both texts.
JobspecText redact(Json& jobspec, EnvironmentPool& pool);

/// A copy of the job's jobspec with period-separated keys set (RFC 21 jobspec-update). Error: a key outside
/// attributes, resources and tasks, or one whose parent is no object.
Result<Json> updated_jobspec(const Job& job, const json_t* updates);
/// Replaces the job's jobspec, with its text and facts; the first text is kept as `original`.
void replace_jobspec(Job& job, Json jobspec);

}  // namespace weir::broker::jobs
