// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rows of live pictures: shares, partitions, running and pending jobs, each line cut to the screen. Pure.
// Must not know how many lines there are room for in all.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/terminal.hpp"
#include "cmd/view/live_scene.hpp"

namespace weir::cmd {

using Lines = std::vector<std::string>;

/// Which rows of a list are shown, and which of them is marked.
struct RowWindow {
    std::size_t from = 0;
    std::size_t count = static_cast<std::size_t>(-1);
    std::optional<std::size_t> marked{};  ///< index in the whole list
    bool has_marks = false;               ///< a column for the mark is on the left
};

/// Cut to the screen first, then the leading `strong` bytes in bold: escapes have no width.
std::string fitted(const std::string& plain, const Screen& screen, std::size_t strong = 0);

/// The indices of `shares` in the order of drawing.
std::vector<std::size_t> share_order(const std::vector<ShareLine>& shares);
/// A head line, and a row for each share in the order of drawing: used as a bar, entitled as a tick on it. Narrow
/// screens lose the counts first, then the bar, then a part of the names.
Lines share_lines(const std::vector<ShareLine>& shares, const Screen& screen, const RowWindow& window = {});

std::string partition_line(const PartitionLine& partition, const Screen& screen);
/// At most `limit` running jobs, then how many more there are.
Lines run_lines(const PartitionLine& partition, const Screen& screen, std::size_t limit);

/// A letter for each term of these jobs, the same whatever the order of the jobs: its first one, or one that no other
/// has. In the order of their names.
std::vector<std::pair<char, std::string>> term_letters(const std::vector<QueueLine>& queue);
/// A head line, and a row for each job. Where there is room and jobs have terms, a bar as long as the priority, made of
/// its terms' letters.
Lines queue_lines(const std::vector<QueueLine>& queue, const Screen& screen, const RowWindow& window = {});

}  // namespace weir::cmd
