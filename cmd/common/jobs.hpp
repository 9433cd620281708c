// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job ids and users in the form for people, and jobs from job-list. Must not print. RFC 19 (FLUID, F58), RFC 21
// (states).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cmd/common/client.hpp"

namespace weir::cmd {

/// "ƒ7J4Ab"; "f7J4Ab" on a screen without Unicode.
std::string job_name(std::uint64_t id, bool unicode = true);
/// Any RFC 19 form. Errors: EINVAL with the valid forms.
Result<std::uint64_t> parse_job(const std::string& text);

/// The job-manager's error about a job that is unknown, has ended or is another user's, as a sentence with the remedy.
Error explained(const Error& error, std::uint64_t id, Client& client, const std::string& not_permitted);

/// Names of users: the instance's [weir.users] table, then the system's.
class Users {
  public:
    static Users of(Client& client);
    std::string name(std::uint32_t userid) const;
    /// By [weir.users], else by this machine, whose login names may be digits, else a number: the modules' order.
    /// Errors: ENOENT with where names are looked up.
    Result<std::uint32_t> id(const std::string& name) const;

  private:
    std::vector<std::pair<std::string, std::uint32_t>> table_;
    mutable std::unordered_map<std::uint32_t, std::string> names_;  ///< a cache: a list has few users, many times
};

/// The attributes of a job in job-list (RFC 21); absent ones keep their defaults.
struct Job {
    std::uint64_t id = 0;
    std::uint32_t userid = 0;
    int state = 0;
    int result = 0;
    std::int64_t urgency = 16, priority = -1, cores = 0, nodes = 0, waitstatus = -1;
    double submitted = 0, run = 0, cleanup = 0, inactive = 0, duration = 0;
    std::string name, queue, account, note;
    std::vector<std::string> dependencies;  ///< "after-start=f2X", "begin-time=1795304000"; of find_job() alone
    json_t* annotations = nullptr;          ///< borrowed from the answer; null outside the callback
};

/// A request to job-list.
struct JobQuery {
    int states = FLUX_JOB_STATE_PENDING | FLUX_JOB_STATE_RUNNING;
    std::optional<std::uint32_t> userid;
    std::string queue;
    std::int64_t limit = 1000;
    bool wants_annotations = false;
};
/// Jobs in job-list's order: pending by priority, then running, then inactive.
Status list_jobs(Client& client, const JobQuery& query, const std::function<void(const Job&)>& take);
/// Whether the instance has the queue, or an active job of a queue that is gone; also success where it does not say.
/// Errors: ENOENT with the queues that there are.
Status check_queue(Client& client, const std::string& name);
/// A request to job-list.list-id without the id, and the job in its answer.
Json job_question();
Job job_from(const Json& answer);
/// One job, by its id here, at the parent or in a partition: `id` of the result is the one here. Errors: ENOENT "no job
/// ƒ… here".
Result<Job> find_job(Client& client, std::uint64_t id);
/// "SCHED", "RUN", …; "INACTIVE" becomes its result: "completed", "failed", "canceled", "timeout".
std::string state_text(const Job& job);
/// Of an ended job: what its processes ended with; nothing where none ran or the instance does not say.
std::optional<int> exit_code_of(const Job& job);
std::optional<int> signal_of(const Job& job);
/// Why an ended job ended: the note of its exception, else "signal 9" or "exit code 3"; empty after success.
std::string ending_reason(const Job& job);
/// How and when an ended job ended: "failed at 2026-11-21 09:31:05: exit code 3".
std::string ending_text(const Job& job);

}  // namespace weir::cmd
