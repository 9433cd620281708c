// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the picture of a demo, from a state to lines of text. Pure: no clock, no terminal. Must not know where the
// state comes from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"
#include "cmd/view/live_scene.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::cmd {

struct LiveState : LiveScene {
    Duration span{};  ///< scaled time since the first submit
    double scale = 1;
    std::int64_t jobs = 0, submitted = 0, finished = 0;
    Duration elapsed{};  ///< real time
    Duration left{};     ///< real time, an estimate
};

/// The whole picture in at most screen.height lines (0: no limit), each at most screen.width columns. If there are too
/// few lines, the queue is shortened first, then running jobs, then users; accounts and partitions stay.
std::vector<std::string> live_view(const LiveState& state, const Screen& screen);
/// One line for a log: progress, busy cores per partition, the top-level accounts' used against entitled.
std::string live_line(const LiveState& state, Glyphs glyphs);

}  // namespace weir::cmd
