// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the derivation of execution events from a job. Must not know files, flux_t.
#include "broker/services/job-manager/codecs/exec_eventlog.hpp"

#include <algorithm>

#include "broker/services/job-manager/codecs/jobspec.hpp"

namespace weir::broker::jobs {
namespace {

std::string line(std::int64_t t_us, const char* name, Json context = {}) {
    return encode(Event{t_us, name, std::move(context)}) + "\n";
}

int tasks_run(const Job& job) {
    return std::max(task_count(job), 1);
}

/// All tasks run on the one machine of the instance.
Json taskmap(const Job& job) {
    return Json::own(json_pack("{s:i s:[[i,i,i,i]]}", "version", 1, "map", 0, 1, tasks_run(job), 1));
}

}  // namespace

std::string task_ranks(const Job& job) {
    const int count = tasks_run(job);
    return count == 1 ? "0" : "0-" + std::to_string(count - 1);
}

std::string exec_eventlog(const Job& job) {
    if (!job.was_started) {
        return {};
    }
    const std::int64_t begin = job.t_start_us;
    Json shell = Json::object();
    shell.set("service", "shell-" + std::to_string(job.id)).set("leader-rank", 0).set("size", 1);
    Json start = Json::object();
    start.set("taskmap", taskmap(job));
    std::string log = line(begin, "init") + line(begin, "starting") + line(begin, "shell.init", std::move(shell)) +
                      line(begin, "shell.start", std::move(start));
    if (job.wait_status >= 0) {
        const std::int64_t end = std::max(begin, job.t_state_us[state_index(State::cleanup)]);
        Json complete = Json::object();
        complete.set("status", job.wait_status);
        log += line(end, "complete", std::move(complete)) + line(end, "done");
    }
    return log;
}

}  // namespace weir::broker::jobs
