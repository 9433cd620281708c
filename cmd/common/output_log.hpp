// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the output of a job as a stock Flux keeps it, the eventlog guest.output. Pure. Source: RFC 24.
#pragma once
#include <string>
#include <string_view>

namespace weir::cmd {

struct JobOutput {
    std::string data;  ///< as a stock Flux keeps it, byte for byte; the embedded broker replaces what is not UTF-8
    bool is_complete = false;
    std::string path;  ///< of the file that keeps it; empty: a log
};

/// Of all tasks and both streams, in the order of the log. An entry that is not as RFC 24 has it is left out. The path
/// is that of the first stream which goes to a file; the log has nothing of such a stream.
JobOutput read_output_log(std::string_view log);

}  // namespace weir::cmd
