// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which options of flux-core's job shell a job is refused for. Must not know flux_t, how tasks are started.
#include "broker/services/job-manager/codecs/shell_options.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace weir::broker::jobs {
namespace {

struct LeftOut {
    const char* option;
    const char* why;
    const char* harmless;  // the value with which it asks for nothing; none: nullptr
};

/// Without these a job would do something else than its user asked for.
constexpr LeftOut left_out[] = {
    {"pty", "jobs have no terminals", nullptr},
    {"signal", "there is no signal before the time limit", nullptr},
    {"exit-timeout", "a job ends with its last task", "none"},
    {"exit-on-error", "a job ends with its last task", nullptr},
    {"stop-tasks-in-exec", "tasks cannot be held for a debugger", nullptr},
    {"userrc", "there is no job shell that could run the file", nullptr},
    {"initrc", "there is no job shell that could run the file", nullptr},
    {"stage-in", "files are not copied from archives", nullptr},
};

/// What maps tasks to nodes. Here all of them run on one machine.
constexpr std::string_view taskmaps[] = {"block", "cyclic", "hostfile", "manual"};

bool asks_for(const json_t* value, const char* harmless) {
    if (!value || json_is_null(value) || json_is_false(value)) {
        return false;
    }
    if (json_is_integer(value)) {
        return json_integer_value(value) != 0;
    }
    const char* text = json_string_value(value);
    return !harmless || !text || std::string_view(text) != harmless;
}

}  // namespace

Status check_shell_options(const json_t* jobspec) {
    if (read_path(jobspec, "attributes.system.exec.test")) {
        return Done{};  // a simulated job has no tasks
    }
    const json_t* options = read_path(jobspec, "attributes.system.shell.options");
    const std::string scheme(read_string(json_object_get(options, "taskmap"), "scheme").value_or("block"));
    if (std::find(std::begin(taskmaps), std::end(taskmaps), scheme) == std::end(taskmaps)) {
        return Error{std::errc::invalid_argument,
                     "taskmap " + scheme + " is unknown: it is block, cyclic, hostfile or manual"};
    }
    for (const LeftOut& one : left_out) {
        if (asks_for(json_object_get(options, one.option), one.harmless)) {
            return Error{std::errc::invalid_argument, std::string("weir-broker does not have the shell option ") +
                                                          one.option + ": " + one.why + "; submit without it"};
        }
    }
    return Done{};
}

}  // namespace weir::broker::jobs
