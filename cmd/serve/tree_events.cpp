// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tree_events.hpp. The text is written without a JSON tree: a share tree may have a hundred thousand rows.
#include "cmd/serve/tree_events.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cmd/report/svg.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

/// JSON has no infinity.
std::string json_number(std::optional<double> value) {
    return value && std::isfinite(*value) ? exact(*value) : "null";
}

/// Columns behind the path.
std::string row_figures(const ShareNode& node) {
    return std::to_string(node.shares) + "," + json_number(node.entitled) + "," + json_number(node.used) + "," +
           json_number(node.usage_core_s) + "," + json_number(node.level_fs) + "," + json_number(node.factor) + "," +
           std::to_string(node.running_cores) + "," + std::to_string(node.pending_jobs);
}

bool has_same_figures(const ShareNode& a, const ShareNode& b) {
    return a.shares == b.shares && a.entitled == b.entitled && a.used == b.used && a.usage_core_s == b.usage_core_s &&
           a.level_fs == b.level_fs && a.factor == b.factor && a.running_cores == b.running_cores &&
           a.pending_jobs == b.pending_jobs;
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

std::string event_text(const std::string& name, const std::string& json) {
    return "event: " + name + "\ndata: " + json + "\n\n";
}

std::string json_quoted(const std::string& text) {
    return Json::string(text).dump();
}

void TreeEvents::take(ShareView newest) {
    newest_ = std::move(newest);
    if (!has_any_) {
        shown_ = newest_;
        has_any_ = true;
    }
}

std::string TreeEvents::whole() const {
    std::string json = "{\"revision\":" + std::to_string(shown_.revision) +
                       ",\"author\":" + json_quoted(shown_.author) + ",\"reason\":" + json_quoted(shown_.reason) +
                       ",\"time\":" + json_number(shown_.time) + ",\"now\":" + json_number(shown_.now) +
                       ",\"all_core_s\":" + json_number(shown_.all_core_s) +
                       ",\"of\":" + std::to_string(std::max(shown_.of, shown_.nodes.size())) + ",\"rows\":[";
    for (const ShareNode& node : shown_.nodes) {
        json += (json.back() == '[' ? "[" : ",[") + json_quoted(node.path) + "," + row_figures(node) + "," +
                std::to_string(node.children) + "]";
    }
    return event_text("tree", json + "]}");
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
    std::string json =
        "{\"now\":" + json_number(shown_.now) + ",\"all_core_s\":" + json_number(shown_.all_core_s) + ",\"rows\":[";
    for (const auto& [weight, place] : changed) {
        if (json.size() > bytes_max) {
            break;
        }
        shown_.nodes[place] = newest_.nodes[place];
        json +=
            (json.back() == '[' ? "[" : ",[") + std::to_string(place) + "," + row_figures(shown_.nodes[place]) + "]";
    }
    return event_text("rows", json + "]}");
}

}  // namespace weir::cmd
