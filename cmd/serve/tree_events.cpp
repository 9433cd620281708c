// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tree_events.hpp. The text is written without a JSON tree: a share tree may have a hundred thousand rows.
#include "cmd/serve/tree_events.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cmd/report/svg.hpp"
#include "cmd/serve/event_text.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::cmd {
namespace {

/// JSON has no infinity.
std::string json_number(std::optional<double> value) {
    return value && std::isfinite(*value) ? exact(*value) : "null";
}

/// Of most rows; memory is asked for once.
constexpr std::size_t row_bytes = 160;

/// Columns behind the path.
void append_figures(ArrayText& row, const ShareNode& node) {
    row.splice(node.shares_parent ? "null" : std::to_string(node.shares))
        .splice(json_number(node.entitled))
        .splice(json_number(node.used));
    row.splice(json_number(node.usage_core_s)).splice(json_number(node.level_fs)).splice(json_number(node.factor));
    row.append(node.running_cores).append(node.pending_jobs);
}

bool has_same_figures(const ShareNode& a, const ShareNode& b) {
    return a.shares == b.shares && a.shares_parent == b.shares_parent && a.entitled == b.entitled && a.used == b.used &&
           a.usage_core_s == b.usage_core_s && a.level_fs == b.level_fs && a.factor == b.factor &&
           a.running_cores == b.running_cores && a.pending_jobs == b.pending_jobs;
}

bool has_same_paths(const std::vector<ShareNode>& a, const std::vector<ShareNode>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ShareNode& x, const ShareNode& y) {
        return x.path == y.path && x.children == y.children;
    });
}

/// How much a viewer would miss: a job that came or went counts more than any drift of usage.
double weight_of(const ShareNode& had, const ShareNode& has) {
    const bool is_other = had.shares != has.shares || had.running_cores != has.running_cores ||
                          had.pending_jobs != has.pending_jobs || had.entitled != has.entitled;
    return (is_other ? 10 : 0) + std::abs(has.used - had.used) + 1e-12 * std::abs(has.usage_core_s - had.usage_core_s);
}

}  // namespace

void TreeEvents::take(ShareView newest) {
    newest_ = std::move(newest);
    if (!has_any_) {
        shown_ = newest_;
        has_any_ = true;
    }
}

std::string TreeEvents::whole() const {
    ArrayText rows(row_bytes * shown_.nodes.size());
    for (const ShareNode& node : shown_.nodes) {
        ArrayText row(row_bytes);
        row.append(node.path);
        append_figures(row, node);
        rows.splice(row.append(node.children).text());
    }
    ObjectText tree;
    tree.set("revision", shown_.revision).set("author", shown_.author).set("reason", shown_.reason);
    tree.splice("time", json_number(shown_.time)).splice("now", json_number(shown_.now));
    tree.splice("all_core_s", json_number(shown_.all_core_s)).set("of", std::max(shown_.of, shown_.nodes.size()));
    return event_text("tree", tree.splice("rows", rows.text()).text());
}

std::string TreeEvents::changes(std::size_t bytes_max) {
    if (shown_.revision != newest_.revision || shown_.of != newest_.of ||
        !has_same_paths(shown_.nodes, newest_.nodes)) {
        shown_ = newest_;
        return whole();
    }
    std::vector<std::pair<double, std::size_t>> changed;
    for (std::size_t i = 0; i < newest_.nodes.size(); ++i) {
        if (!has_same_figures(shown_.nodes[i], newest_.nodes[i])) {
            changed.emplace_back(-weight_of(shown_.nodes[i], newest_.nodes[i]), i);
        }
    }
    if (changed.empty()) {
        return "";
    }
    std::sort(changed.begin(), changed.end());
    shown_.now = newest_.now;
    shown_.all_core_s = newest_.all_core_s;
    ObjectText update;
    update.splice("now", json_number(shown_.now)).splice("all_core_s", json_number(shown_.all_core_s));
    const std::size_t head_bytes = update.size() + std::string_view(R"(,"rows":)").size();
    ArrayText rows;
    for (const auto& [weight, place] : changed) {
        if (head_bytes + rows.size() > bytes_max) {
            break;
        }
        shown_.nodes[place] = newest_.nodes[place];
        ArrayText row(row_bytes);
        append_figures(row.append(place), shown_.nodes[place]);
        rows.splice(row.text());
    }
    return event_text("rows", update.splice("rows", rows.text()).text());
}

}  // namespace weir::cmd
