// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the values that job-exec reads from a job's jobspec and R. Must not know processes or messages.
// Source: RFC 14, 25 (jobspec), RFC 20 (R); flux-core's job-exec test execution for attributes.system.exec.test.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/services/exec_gpus.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct ExecSpec {
    std::vector<std::string> command;
    std::string name;  // that the user gave, else the file name of the program
    std::string cwd;   // empty: the broker's
    std::optional<std::map<std::string, std::string>> environment;  // nothing: the broker's
    std::uint32_t task_count = 1;
    std::uint32_t node_count = 1;
    std::string node_name;         // of the only node; empty: several
    std::vector<NodeShare> nodes;  // of the gpus that its tasks are told of; empty: they are told nothing
    bool is_gpu_per_task = false;  // each task is told of its own part of them
    double duration = 0;           // time limit, seconds; 0: none
    std::string output;            // file that the user named for stdout; empty: the job's own
    std::string error;             // the same for stderr; empty: where stdout goes, if that was named
    bool is_appending = false;     // files that the user named are kept and written on, not emptied
    std::string output_above;  // attributes.system.weir.output: its output's name in the instance above, without suffix
    std::string input;         // file that the tasks read as stdin; empty: nothing to read
    std::string limits;        // of the tasks' resources, numbers of setrlimit(2): "7=1024 4=-1"; -1: none
    std::string notes;         // lines for the job's stderr: options that have no effect here
    Json files;                // attributes.system.files, an object of file name -> file (RFC 37), or nothing
    /// Simulated execution: no process, ends after this many seconds with `simulated_status`.
    std::optional<double> simulated;
    int simulated_status = 0;
};

/// \return an error that names the attribute and what is right.
Result<ExecSpec> read_exec_spec(const Json& jobspec, const Json& r);

/// True if the command starts a broker of a child instance ("flux broker ..."), as flux batch and flux alloc have it.
bool is_child_instance(const ExecSpec& spec);

/// Names, as {{NAME}} in a command, an environment or a file name, of the number of one task. A job of several has one
/// command, environment and output, so it is refused for them.
inline constexpr const char* task_marks[] = {"taskid", "task.id", "task.rank", "task.index", "task.localid"};
/// The same of one node, in a job of several.
inline constexpr const char* node_marks[] = {"node.id", "node.name"};

}  // namespace weir::broker
