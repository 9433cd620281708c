// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the capabilities of a stream: terminal or not, width, colour, Unicode. They are derived once, from values that
// tests can set. Must not write anything. Sources: no-color.org, POSIX TERM=dumb.
#pragma once
#include <cstddef>
#include <string>

#include "cmd/common/text.hpp"

namespace weir::cmd {

/// The facts of the environment.
struct StreamFacts {
    bool is_terminal = false;
    std::size_t width = 0;  ///< columns by the terminal, 0 if unknown
    std::size_t height = 0;
    bool no_color = false;  ///< NO_COLOR is set and not empty
    bool dumb = false;      ///< TERM is "dumb" or unset
    bool utf8 = true;       ///< the locale's character set is UTF-8 (or none is set)
};
/// The derived capabilities. `width` 0: do not clip.
struct Screen {
    bool escapes = false;  ///< may move the cursor
    bool color = false;
    std::size_t width = 0;
    std::size_t height = 0;
    Glyphs glyphs;
};

/// Pure: escapes and colour only on a terminal that is not dumb; widths below 40 columns count as 40.
Screen screen_of(const StreamFacts& facts);
/// Reads isatty, window size and environment of a file descriptor.
StreamFacts stream_facts(int fd);

/// Text in an SGR style where colour is on ("1" bold, "2" faint, "31" red, "33" yellow, "32" green).
std::string styled(const Screen& screen, const char* sgr, const std::string& text);

}  // namespace weir::cmd
