// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files that hold what jobs print. Must not know processes or messages.
#pragma once
#include <cstdint>
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class JobOutput {
  public:
    /// Files stand in `dir`/output, made when first needed. If `is_temporary` they go with this object.
    JobOutput(std::string dir, bool is_temporary);
    ~JobOutput();
    JobOutput(const JobOutput&) = delete;
    JobOutput& operator=(const JobOutput&) = delete;

    /// Opens a job's file for appending. \param named a file that the user asked for, empty: the job's own. Of one
    /// elsewhere a link is kept, so that it is found after a restart, too.
    /// \return a file descriptor that is the caller's.
    Result<int> open(const std::string& job, const std::string& named);
    /// Where a job's output is. The file need not be there.
    std::string path(const std::string& job) const;

    struct Part {
        std::string text;  // UTF-8; what is none is replaced by U+FFFD
        std::uint64_t next = 0;
        bool is_end = false;  // nothing lies behind `next` now
    };
    /// At most 256 KiB from byte `offset` on. \return ENOENT if the job has no output file.
    Result<Part> read(const std::string& job, std::uint64_t offset) const;

  private:
    /// In the folder: the file itself, or the link to the one that the user named.
    std::string own_path(const std::string& job) const;

    std::string dir_;
    bool is_temporary_;
};

/// Valid UTF-8: each byte that is not part of a valid sequence becomes U+FFFD.
std::string to_utf8(const std::string& bytes);

}  // namespace weir::broker
