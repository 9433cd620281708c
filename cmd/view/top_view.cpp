// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the layout of the picture of `weir top`.
#include "cmd/view/top_view.hpp"

#include <algorithm>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr const char* keys_text = R"(Keys of weir top

  up down k j          the marked row; PgUp PgDn Home End in steps
  Tab                  from the shares to the queue and back
  right left Enter     open or close an account; a plus marks a closed one
  s                    the order of siblings: tree, name, used, ratio, running, waiting
  /                    show only names that contain a text; Escape ends that
  e                    explain the marked job or account (Enter does for a job)
  h ?                  this page
  q Ctrl-C             quit

In a bar of the shares, the filled part is what was used, the tick what the account
is entitled to. A bar of the queue is as long as the job's priority; each letter
is a term of its sum:
)";

std::string head_text(const TopScene& scene) {
    return "weir  " + scene.clock + "  " + grouped(scene.running) + " running, " + grouped(scene.pending) +
           " waiting, " + grouped(scene.finished) + " ended  " + printable(scene.instance);
}

std::string rates_text(const TopScene& scene) {
    std::string text = "tree revision " + std::to_string(scene.revision) + ", " + grouped(scene.nodes) + " nodes";
    if (scene.rates) {
        const JobRates& rates = *scene.rates;
        text = "a minute: " + fixed(rates.submitted, 1) + " submitted, " + fixed(rates.started, 1) + " started, " +
               fixed(rates.ended, 1) + " ended (" + duration_text(rates.over) + ")  " + text;
    }
    return text;
}

/// "rows 1-10 of 57", and how many the instance left out.
std::string place_text(const TopScene& scene, const TopChoice& choice) {
    const bool is_shares = choice.pane == TopPane::shares;
    const std::size_t rows = is_shares ? scene.shares.size() : scene.queue.size();
    const std::size_t at = is_shares ? choice.share_at : choice.queue_at;
    const std::int64_t listed = static_cast<std::int64_t>(rows);
    const std::int64_t more = is_shares ? scene.left_out : std::max<std::int64_t>(0, scene.queue_matches - listed);
    return (rows == 0 ? "no row" : "row " + std::to_string(at + 1) + " of " + std::to_string(rows)) +
           (more > 0 ? " and " + grouped(more) + " more" : "");
}

std::string foot_text(const TopScene& scene, const TopChoice& choice) {
    if (choice.is_typing) {
        return "show names with: " + choice.filter + "_   Enter: done, Escape: all";
    }
    return "q quit  h help  Tab pane  e explain  s order: " + choice.order +
           (choice.filter.empty() ? "  / filter" : "  / filter: " + choice.filter) + "  " + place_text(scene, choice);
}

/// The page that contains the marked row.
RowWindow window_of(std::size_t at, std::size_t rows, bool is_marked) {
    const std::size_t from = rows == 0 ? 0 : at / rows * rows;
    return {from, rows, is_marked ? std::optional(at) : std::nullopt, true};
}

struct Heights {
    std::size_t shares, queue;  ///< rows without their head lines
};
/// Both panes get the lines that they need; else the pane with the mark gets two thirds of `room`, or what the other
/// one leaves.
Heights heights(std::size_t shares, std::size_t queue, std::size_t room, TopPane pane) {
    if (shares + queue <= room) {
        return {shares, queue};
    }
    const std::size_t first = pane == TopPane::shares ? shares : queue;
    const std::size_t other = pane == TopPane::shares ? queue : shares;
    const std::size_t given = std::min(first, std::max(room * 2 / 3, room - std::min(room, other)));
    return pane == TopPane::shares ? Heights{given, room - given} : Heights{room - given, given};
}

std::vector<std::string> lines_of(const std::string& text) {
    Lines lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

Lines page_view(const std::string& text, std::size_t from, const Screen& screen) {
    const Lines all = lines_of(text);
    const std::size_t room = std::max<std::size_t>(screen.height, 2) - 1;
    const std::size_t first = std::min(from, all.size() - std::min(all.size(), room));
    Lines lines;
    for (std::size_t i = first; i < all.size() && lines.size() < room; ++i) {
        lines.push_back(fitted(all[i], screen));
    }
    const bool is_whole = all.size() <= room;
    lines.push_back(styled(screen, "2",
                           fitted(is_whole ? "Escape: back"
                                           : "Escape: back  up down: lines " + std::to_string(first + 1) + " to " +
                                                 std::to_string(first + room) + " of " + std::to_string(all.size()),
                                  screen)));
    return lines;
}

std::string help_text(const TopScene& scene) {
    std::string text = keys_text;
    for (const auto& [letter, name] : term_letters(scene.queue)) {
        text += std::string("  ") + letter + "  " + name + "\n";
    }
    return text;
}

void append_lines(Lines& to, Lines from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// All rows, for a file.
Lines whole_picture(const TopScene& scene, const Screen& screen) {
    Lines lines{head_text(scene), rates_text(scene)};
    append_lines(lines, share_lines(scene.shares, screen));
    if (scene.left_out > 0) {
        lines.push_back("and " + grouped(scene.left_out) + " more");
    }
    for (const PartitionLine& partition : scene.partitions) {
        lines.push_back(partition_line(partition, screen));
    }
    append_lines(lines, queue_lines(scene.queue, screen));
    const auto listed = static_cast<std::int64_t>(scene.queue.size());
    if (scene.queue_matches > listed) {
        lines.push_back("and " + grouped(scene.queue_matches - listed) + " more");
    }
    std::string letters;
    for (const auto& [letter, name] : term_letters(scene.queue)) {
        letters += (letters.empty() ? "made of: " : ", ") + std::string(1, letter) + " " + name;
    }
    if (!letters.empty()) {
        lines.push_back(letters);
    }
    return lines;
}

}  // namespace

Lines top_view(const TopScene& scene, const TopChoice& choice, const Screen& screen) {
    if (screen.height == 0) {
        return whole_picture(scene, screen);
    }
    if (choice.has_help || !choice.page.empty()) {
        return page_view(choice.has_help ? help_text(scene) : choice.page, choice.page_from, screen);
    }
    const std::size_t height = screen.height;
    Lines lines{fitted(head_text(scene), screen, 4)};
    lines.push_back(scene.problem.empty() ? fitted(rates_text(scene), screen)
                                          : styled(screen, "31", fitted(printable(scene.problem), screen)));
    const std::size_t partitions = std::min(scene.partitions.size(), height / 4);
    const std::size_t heads = lines.size() + partitions + 3;  // with both panes' heads and the foot
    const std::size_t room = height - std::min(height, heads);
    const Heights rows = heights(scene.shares.size(), scene.queue.size(), room, choice.pane);
    append_lines(lines, share_lines(scene.shares, screen,
                                    window_of(choice.share_at, rows.shares, choice.pane == TopPane::shares)));
    for (std::size_t i = 0; i < partitions; ++i) {
        lines.push_back(partition_line(scene.partitions[i], screen));
    }
    append_lines(
        lines, queue_lines(scene.queue, screen, window_of(choice.queue_at, rows.queue, choice.pane == TopPane::queue)));
    lines.resize(std::min(lines.size(), height - 1));
    lines.push_back(styled(screen, "2", fitted(foot_text(scene, choice), screen)));
    return lines;
}

}  // namespace weir::cmd
