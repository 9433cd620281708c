// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the facts of a stream.
#include "cmd/common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "cmd/common/environment.hpp"

namespace weir::cmd {
namespace {

bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (std::string value = env(name); !value.empty()) {
            std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
            return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
        }
    }
    return true;  // no locale is set: assume UTF-8
}

}  // namespace

Screen screen_of(const StreamFacts& facts) {
    Screen screen;
    screen.escapes = facts.is_terminal && !facts.dumb;
    screen.color = screen.escapes && !facts.no_color;
    screen.width = facts.is_terminal ? std::max<std::size_t>(facts.width == 0 ? 80 : facts.width, 40) : 0;
    screen.height = facts.is_terminal ? (facts.height == 0 ? 24 : facts.height) : 0;
    screen.glyphs.unicode = facts.utf8;
    return screen;
}

StreamFacts stream_facts(int fd) {
    StreamFacts facts;
    facts.is_terminal = isatty(fd) == 1;
    winsize size{};
    if (facts.is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) {
        facts.width = size.ws_col;
        facts.height = size.ws_row;
    }
    facts.no_color = !env("NO_COLOR").empty();
    facts.dumb = env("TERM").empty() || env("TERM") == "dumb";
    facts.utf8 = locale_is_utf8();
    return facts;
}

std::string styled(const Screen& screen, const char* sgr, const std::string& text) {
    return screen.color ? std::string("\x1b[") + sgr + "m" + text + "\x1b[0m" : text;
}

}  // namespace weir::cmd
