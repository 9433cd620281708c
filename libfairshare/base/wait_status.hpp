// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a wait status says of a job's processes, as wait(2) and job shells have it.
// Must not know jobs.
#pragma once
#include <optional>

namespace weir {

/// A shell that a signal did not end itself exits with this and the signal that ended what it ran.
constexpr int exit_code_of_signal = 128;
constexpr int signal_max = 64;

/// The signal that ended the processes: of the status itself, or of an exit code that is 128 and a signal's number.
constexpr std::optional<int> ending_signal(int wait_status) {
    const int signal = wait_status & 0x7f;
    if (signal != 0) {
        return signal;
    }
    const int of_code = ((wait_status >> 8) & 0xff) - exit_code_of_signal;
    return of_code > 0 && of_code <= signal_max ? std::optional(of_code) : std::nullopt;
}

/// The status of a job shell whose task has this one.
constexpr int status_of_shell(int task_status) {
    const int signal = task_status & 0x7f;
    return signal == 0 ? task_status : (exit_code_of_signal + signal) << 8;
}

}  // namespace weir
