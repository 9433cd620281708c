// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see tree_levels.hpp.
#include "cmd/serve/tree_levels.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace weir::cmd {
namespace {

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

}  // namespace

TreeLevels::TreeLevels(const std::vector<ShareNode>& nodes)
    : parents_(nodes.size(), no_parent), children_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string& path = nodes[i].path;
        paths_.push_back(path);
        const std::size_t cut = path.rfind('/');
        const auto parent = cut == std::string::npos ? places_.end() : places_.find(path.substr(0, cut));
        if (parent == places_.end()) {
            roots_.push_back(i);
        } else {
            parents_[i] = parent->second;
            children_[parent->second].push_back(i);
        }
        places_.emplace(path, i);
    }
}

bool TreeLevels::is_of(const std::vector<ShareNode>& nodes) const {
    return std::equal(nodes.begin(), nodes.end(), paths_.begin(), paths_.end(),
                      [](const ShareNode& node, const std::string& path) { return node.path == path; });
}

std::optional<std::size_t> TreeLevels::place_of(const std::string& path) const {
    const auto found = places_.find(path);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> TreeLevels::found(const std::vector<ShareNode>& nodes, const std::string& search) const {
    const std::string words = in_lower_case(search);
    std::set<std::size_t> kept;
    std::size_t matches = 0;
    for (std::size_t i = 0; i < nodes.size() && matches < matches_max; ++i) {
        if (in_lower_case(nodes[i].path).find(words) == std::string::npos) {
            continue;
        }
        matches += 1;
        for (std::size_t at = i; at != no_parent && kept.insert(at).second; at = parents_[at]) {
        }
    }
    return {kept.begin(), kept.end()};
}

std::vector<std::size_t> TreeLevels::places(const std::vector<ShareNode>& nodes, const Opened& opened) const {
    std::vector<std::size_t> shown;
    if (nodes.size() <= whole_max) {
        shown.resize(nodes.size());
        std::iota(shown.begin(), shown.end(), std::size_t{0});
        return shown;
    }
    if (!opened.search.empty()) {
        return found(nodes, opened.search);
    }
    std::vector<std::size_t> level = roots_;
    for (bool is_top = true; !level.empty() && shown.size() < rows_max; is_top = false) {
        level.resize(std::min(level.size(), rows_max - shown.size()));
        shown.insert(shown.end(), level.begin(), level.end());
        std::vector<std::size_t> below;
        for (const std::size_t parent : level) {
            if (opened.is_all || (is_top && roots_.size() <= tops_open_max) ||
                opened.paths.count(nodes[parent].path) > 0) {
                below.insert(below.end(), children_[parent].begin(), children_[parent].end());
            }
        }
        level = std::move(below);
    }
    std::sort(shown.begin(), shown.end());
    return shown;
}

ShareView TreeLevels::rows(const ShareView& view, const std::vector<std::size_t>& places) const {
    ShareView some;
    some.revision = view.revision;
    some.author = view.author;
    some.reason = view.reason;
    some.time = view.time;
    some.now = view.now;
    some.all_core_s = view.all_core_s;
    some.of = view.of > 0 ? view.of : view.nodes.size();
    for (const std::size_t place : places) {
        some.nodes.push_back(view.nodes[place]);
        some.nodes.back().children = std::max(view.nodes[place].children, children_[place].size());
    }
    return some;
}

}  // namespace weir::cmd
