// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of keys.
#include "cmd/top/top_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

constexpr std::size_t page_rows = 10;
constexpr std::size_t help_lines_max = 30;
constexpr std::size_t filter_columns_max = 40;
constexpr std::array<const char*, 6> sibling_orders{"tree", "name", "used", "ratio", "running", "waiting"};

TopWish wish(TopWish::What what) {
    return {what, 0, {}};
}

bool is_letter(const Key& key, const char* letter) {
    return key.name == KeyName::character && key.text == letter;
}

/// The row to which a key moves from `at` in `rows` rows; `at` itself if it does not move.
std::size_t moved(const Key& key, std::size_t at, std::size_t rows) {
    const std::size_t last = rows == 0 ? 0 : rows - 1;
    if (key.name == KeyName::up || is_letter(key, "k")) {
        return at - std::min<std::size_t>(at, 1);
    }
    if (key.name == KeyName::down || is_letter(key, "j")) {
        return std::min(at + 1, last);
    }
    switch (key.name) {
        case KeyName::page_up:
            return at - std::min(at, page_rows);
        case KeyName::page_down:
            return std::min(at + page_rows, last);
        case KeyName::home:
            return 0;
        case KeyName::end:
            return last;
        default:
            return at;
    }
}

bool is_move(const Key& key) {
    return key.name == KeyName::up || key.name == KeyName::down || key.name == KeyName::page_up ||
           key.name == KeyName::page_down || key.name == KeyName::home || key.name == KeyName::end ||
           is_letter(key, "j") || is_letter(key, "k");
}

}  // namespace

const ShareLine* TopModel::marked_share() const {
    const std::vector<std::size_t> order = share_order(scene_.shares);
    return choice_.share_at < order.size() ? &scene_.shares[order[choice_.share_at]] : nullptr;
}

void TopModel::take(TopScene scene) {
    const ShareLine* share = marked_share();
    const std::string path = share != nullptr ? share->path : "";
    const std::uint64_t job = choice_.queue_at < scene_.queue.size() ? scene_.queue[choice_.queue_at].job : 0;
    scene_ = std::move(scene);
    const std::vector<std::size_t> order = share_order(scene_.shares);
    const auto same_path = [&](std::size_t i) { return scene_.shares[i].path == path; };
    if (const auto found = std::find_if(order.begin(), order.end(), same_path); found != order.end()) {
        choice_.share_at = static_cast<std::size_t>(found - order.begin());
    }
    // The first row is no fixed mark: a reader there wants to see the next job.
    const auto same_job = [&](const QueueLine& line) { return line.job == job; };
    if (const auto found = std::find_if(scene_.queue.begin(), scene_.queue.end(), same_job);
        choice_.queue_at > 0 && found != scene_.queue.end()) {
        choice_.queue_at = static_cast<std::size_t>(found - scene_.queue.begin());
    }
    choice_.share_at = std::min(choice_.share_at, std::max<std::size_t>(order.size(), 1) - 1);
    choice_.queue_at = std::min(choice_.queue_at, std::max<std::size_t>(scene_.queue.size(), 1) - 1);
}

void TopModel::show_page(std::string text) {
    choice_.page = std::move(text);
    choice_.page_from = 0;
}

TopWish TopModel::apply(const Key& key) {
    if (choice_.is_typing) {
        return apply_to_filter(key);
    }
    if (choice_.has_help || !choice_.page.empty()) {
        return apply_to_page(key);
    }
    if (move(key)) {
        return {};
    }
    switch (key.name) {
        case KeyName::tab:
            choice_.pane = choice_.pane == TopPane::shares ? TopPane::queue : TopPane::shares;
            return {};
        case KeyName::enter:
            return choice_.pane == TopPane::queue ? explain() : toggle();
        case KeyName::right:
            return set_open(true);
        case KeyName::left:
            return set_open(false);
        case KeyName::escape: {
            const bool was_filtered = !std::exchange(choice_.filter, "").empty();
            return wish(was_filtered ? TopWish::What::look : TopWish::What::nothing);
        }
        case KeyName::character:
            return apply_character(key.text);
        default:
            return {};
    }
}

TopWish TopModel::apply_character(const std::string& text) {
    if (text == "q") {
        return wish(TopWish::What::quit);
    }
    if (text == "h" || text == "?") {
        choice_.has_help = true;
        choice_.page_from = 0;
    } else if (text == "/") {
        choice_.is_typing = true;
    } else if (text == "e") {
        return explain();
    } else if (text == " ") {
        return toggle();
    } else if (text == "s") {
        const auto at = std::find(sibling_orders.begin(), sibling_orders.end(), choice_.order);
        choice_.order = at == sibling_orders.end() || at + 1 == sibling_orders.end() ? sibling_orders[0] : *(at + 1);
        return wish(TopWish::What::look);
    }
    return {};
}

bool TopModel::move(const Key& key) {
    if (!is_move(key)) {
        return false;
    }
    if (choice_.pane == TopPane::shares) {
        choice_.share_at = moved(key, choice_.share_at, scene_.shares.size());
    } else {
        choice_.queue_at = moved(key, choice_.queue_at, scene_.queue.size());
    }
    return true;
}

TopWish TopModel::apply_to_page(const Key& key) {
    if (is_move(key)) {
        const auto lines = static_cast<std::size_t>(std::count(choice_.page.begin(), choice_.page.end(), '\n'));
        choice_.page_from = moved(key, choice_.page_from, choice_.has_help ? help_lines_max : lines);
    } else if (key.name == KeyName::escape || key.name == KeyName::enter || key.name == KeyName::left ||
               is_letter(key, "q") || is_letter(key, "h") || is_letter(key, "?") || is_letter(key, "e")) {
        choice_.has_help = false;
        choice_.page.clear();
    }
    return {};
}

TopWish TopModel::apply_to_filter(const Key& key) {
    const std::string before = choice_.filter;
    if (key.name == KeyName::enter) {
        choice_.is_typing = false;
    } else if (key.name == KeyName::escape) {
        choice_.is_typing = false;
        choice_.filter.clear();
    } else if (key.name == KeyName::backspace && !choice_.filter.empty()) {
        while (!choice_.filter.empty() && (static_cast<unsigned char>(choice_.filter.back()) & 0xc0) == 0x80) {
            choice_.filter.pop_back();
        }
        choice_.filter.pop_back();
    } else if (key.name == KeyName::character && columns(choice_.filter) < filter_columns_max) {
        choice_.filter += key.text;
    }
    return wish(before == choice_.filter ? TopWish::What::nothing : TopWish::What::look);
}

TopWish TopModel::explain() {
    if (choice_.pane == TopPane::queue && choice_.queue_at < scene_.queue.size()) {
        return {TopWish::What::explain_job, scene_.queue[choice_.queue_at].job, {}};
    }
    const ShareLine* share = choice_.pane == TopPane::shares ? marked_share() : nullptr;
    return share != nullptr ? TopWish{TopWish::What::explain_share, 0, share->path} : TopWish{};
}

TopWish TopModel::set_open(bool is_open) {
    const ShareLine* share = choice_.pane == TopPane::shares ? marked_share() : nullptr;
    if (share == nullptr) {
        return {};
    }
    const std::string path = share->path;
    open_.erase(path);
    shut_.erase(path);
    if (is_open) {
        open_.insert(path);
    } else {
        shut_.insert(path);
    }
    return wish(TopWish::What::look);
}

TopWish TopModel::toggle() {
    const ShareLine* share = choice_.pane == TopPane::shares ? marked_share() : nullptr;
    return share == nullptr ? TopWish{} : set_open(share->is_shut);
}

}  // namespace weir::cmd
