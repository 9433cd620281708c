// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the server's side of PMI-1 for the tasks of one job: their keys, their barrier, and what a Flux instance that
// runs as a job asks of its parent. Must not know processes or descriptors. Source: RFC 13 (Simple Process Manager
// Interface v1).
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::broker {

class PmiExchange {
  public:
    /// \param task_count 1 or more. \param jobid the name of the key space. \param level of an instance that runs as
    /// this job, 1 below the first.
    PmiExchange(int task_count, std::string jobid, int level);

    struct Answer {
        int task;
        std::string line;  // with its newline
    };
    /// One line of a task, without its newline. \return the answers to send, to this task or, when the last one arrived
    /// at the barrier, to all. Unknown commands, and a line that is none, have no answer. O(length; tasks at a
    /// barrier).
    std::vector<Answer> take(int task, const std::string& line);

    /// Longer lines are not PMI.
    static constexpr std::size_t line_bytes_max = 2048;

  private:
    std::string put(const std::map<std::string, std::string>& words);
    std::string get(const std::map<std::string, std::string>& words) const;

    int task_count_;
    std::string jobid_;
    std::map<std::string, std::string> values_;
    std::set<int> at_barrier_;
};

}  // namespace weir::broker
