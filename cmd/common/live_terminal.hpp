// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a terminal while a live picture is on it: the alternate screen, keys without echo, and the former state, which
// is restored however the process ends. Must not know what is drawn. Sources: ECMA-48, xterm's control sequences.
#pragma once
#include <termios.h>

#include <string>
#include <vector>

namespace weir::cmd {

/// At most one at a time.
class LiveTerminal {
  public:
    /// \param keys  a terminal whose keys are read, -1: none   \param out  a terminal with a movable cursor
    LiveTerminal(int keys, int out);
    ~LiveTerminal();
    LiveTerminal(const LiveTerminal&) = delete;
    LiveTerminal& operator=(const LiveTerminal&) = delete;

    /// Enters again, after leave() or after another program's output.
    void enter();
    /// The normal screen, and the terminal as it was.
    void leave();
    /// Writes the lines that differ from those on the screen.
    void draw(const std::vector<std::string>& lines);

  private:
    int keys_, out_;
    bool is_entered_ = false;
    termios before_{};
    std::vector<std::string> drawn_;
};

}  // namespace weir::cmd
