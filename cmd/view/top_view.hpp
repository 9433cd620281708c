// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the picture of `weir top`, from a scene and the reader's choices to lines of text. Pure: no clock, no terminal.
// Must not know keys, nor where the scene comes from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cmd/view/live_parts.hpp"

namespace weir::cmd {

/// Jobs a minute of the instance's clock.
struct JobRates {
    double submitted = 0, started = 0, ended = 0;
    Duration over{};  ///< that they are the mean of
};

struct TopScene : LiveScene {
    std::string instance;  ///< its name for people
    std::string clock;     ///< its local time
    std::int64_t pending = 0, running = 0, finished = 0;
    std::int64_t queue_matches = 0;  ///< pending jobs that match the filter
    std::int64_t revision = 0;       ///< of the share tree
    std::int64_t nodes = 0;          ///< of the share tree
    std::int64_t left_out = 0;       ///< nodes that would be shown with more rows
    std::optional<JobRates> rates;   ///< none before the second look
    std::string problem;             ///< why the picture is outdated; empty: it is not
};

enum class TopPane { shares, queue };
struct TopChoice {
    TopPane pane = TopPane::shares;
    std::size_t share_at = 0, queue_at = 0;  ///< the marked rows, in the order of drawing
    std::string order = "tree", filter;
    bool is_typing = false;  ///< a filter
    bool has_help = false;
    std::string page;           ///< a text that covers the picture; empty: none
    std::size_t page_from = 0;  ///< its first line
};

/// At most screen.height lines (0: one picture for a file, with all rows and without marks and keys), each at most
/// screen.width columns. Too little height shortens shares and queue, the one without the mark first.
Lines top_view(const TopScene& scene, const TopChoice& choice, const Screen& screen);

}  // namespace weir::cmd
