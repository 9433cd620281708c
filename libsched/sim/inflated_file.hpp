// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a file's bytes, inflated where the file is gzip by its content. Must not know lines, nor how one inflates.
#pragma once
#include <functional>
#include <string>

#include "libsched/sim/line_reader.hpp"

namespace weir {

struct InflatedFile {
    /// Reads the members of a gzip file one after the other. Zero bytes after the last one are ignored. Errors: a
    /// stream that is cut off or broken, other data after the last member, and the system's. Call it from one thread at
    /// a time.
    LineReader::Source read;
    /// Fraction of the file that has been read, in [0, 1]; 0 if it is no regular file. Call it from any thread.
    std::function<double()> part_read;
};

/// "-" is standard input. Error: the file cannot be opened.
Result<InflatedFile> open_inflated(const std::string& path);

}  // namespace weir
