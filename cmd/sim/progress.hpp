// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a progress line on stderr, redrawn in place; no output if stderr is no terminal.
#pragma once
#include <cstdint>
#include <string>

#include "cmd/common/terminal.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// "KTH easy  ████░░░░  43 %  1 200 000 jobs/s  12s left". Pure. `part` in [0, 1], `elapsed` real time.
std::string progress_line(const std::string& title, double part, std::uint64_t jobs, Duration elapsed,
                          const Screen& screen);

class Progress {
  public:
    /// `quiet`: no output. `now`: real time.
    Progress(std::string title, const Screen& screen, bool quiet, Duration now)
        : title_(std::move(title)), screen_(screen), is_shown_(screen.escapes && !quiet), begin_(now), drawn_(now) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void set_title(std::string title) { title_ = std::move(title); }
    /// Draws at most ten times a second.
    void show(double part, std::uint64_t jobs, Duration now);
    /// Removes the line, before other output.
    void clear();

  private:
    std::string title_;
    Screen screen_;
    bool is_shown_;
    bool is_drawn_ = false;
    Duration begin_;
    Duration drawn_;
};

}  // namespace weir::cmd
