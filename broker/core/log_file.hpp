// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the file that the log is copied to. It appends lines, is reopened after a rotation, and survives a full disk.
// Must not know the sources of lines. Source: flux-broker-attributes(7), log-filename.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class LogFile {
  public:
    LogFile() = default;
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    /// Opens `path` for appending, mode 0600; the file that was open before is kept if that fails. Standard output and
    /// error are redirected too if they are the file that was open before, or the one that is open now.
    /// \return the system's error, with the path.
    Status open(const std::string& path);
    /// Appends the line and a newline. A line that cannot be written is lost and counted; the next written line is
    /// preceded by one with the number of lost lines. \return why this line was lost.
    Status write(std::string_view line);
    bool is_open() const { return fd_ >= 0; }

  private:
    Status append(const std::string& text);

    std::string path_;
    int fd_ = -1;
    std::uint64_t lost_ = 0;
    bool is_line_torn_ = false;  // the last write ended within a line
};

}  // namespace weir::broker
