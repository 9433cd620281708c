// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files with the output of jobs. Must not know processes or messages.
#pragma once
#include <cstdint>
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

enum class OutputStream { out, err };
/// What becomes of a file that the user named and that is there already.
enum class OpenMode { truncate, append };

class JobOutput {
  public:
    /// Files are in `dir`, which is made when first needed. If `is_temporary` they are removed with this object.
    JobOutput(std::string dir, bool is_temporary);
    ~JobOutput();
    JobOutput(const JobOutput&) = delete;
    JobOutput& operator=(const JobOutput&) = delete;

    /// Opens a job's file for appending, before the job has written anything. \param named a file that the user
    /// requested; empty: the job's own. A link to a file elsewhere is kept, so that it is found after a restart.
    /// \return a file descriptor that the caller owns.
    Result<int> open(const std::string& job, const std::string& named, OutputStream stream = OutputStream::out,
                     OpenMode mode = OpenMode::truncate);
    /// Gives the file of a job that open() has opened a further name, `prefix`.out or `prefix`.err, for the instance
    /// above, which has the job under another id and finds it there when this one is gone. An earlier file of that name
    /// is replaced. Errors: the folder is another user's, or on another file system.
    Status add_name(const std::string& job, const std::string& prefix, OutputStream stream);
    /// The path of a job's output. The file may not exist.
    std::string path(const std::string& job, OutputStream stream = OutputStream::out) const;
    /// The file that the user named, empty if the output is in the job's own.
    std::string named_path(const std::string& job, OutputStream stream) const;

    struct Part {
        std::string text;  // UTF-8; invalid bytes are replaced by U+FFFD
        std::uint64_t next = 0;
        bool is_end = false;  // there is nothing after `next` now
    };
    /// At most 256 KiB from byte `offset` on. \return ENOENT if the job has no output file.
    Result<Part> read(const std::string& job, std::uint64_t offset, OutputStream stream = OutputStream::out) const;
    /// The same bytes as they are, in `text`, not cut at characters.
    Result<Part> read_bytes(const std::string& job, std::uint64_t offset, OutputStream stream) const;

  private:
    /// In the folder: the file itself, or the link to the one that the user named.
    std::string own_path(const std::string& job, OutputStream stream) const;

    std::string dir_;
    bool is_temporary_;
};

/// Valid UTF-8: each byte that is not part of a valid sequence becomes U+FFFD.
std::string to_utf8(const std::string& bytes);

}  // namespace weir::broker
