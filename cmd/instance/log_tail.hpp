// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the lines added to a log file since the last read, also over rotations. Must not know what the lines mean.
#pragma once
#include <string>
#include <vector>

namespace weir::cmd {

class LogTail {
  public:
    /// Begins at the current end of the file; the file need not exist yet.
    explicit LogTail(std::string path);
    LogTail(LogTail&& other) noexcept;
    LogTail& operator=(LogTail&& other) = delete;
    ~LogTail();
    /// The complete lines that were added. Never waits; a file that cannot be read has none.
    std::vector<std::string> lines();

  private:
    void read_rest();
    bool open_current();

    std::string path_;
    int fd_ = -1;
    std::string text_;  // read and not returned yet
};

}  // namespace weir::cmd
