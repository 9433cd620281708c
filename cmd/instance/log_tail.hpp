// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what was added to a log file since it was last looked at, over rotations. Must not know what the lines say.
#pragma once
#include <string>
#include <vector>

namespace weir::cmd {

class LogTail {
  public:
    /// Begins at the end of the file as it is now; the file need not be there yet.
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
    std::string text_;  // read and not handed out
};

}  // namespace weir::cmd
