// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which rows of a large share tree a viewer gets: those below accounts that he opened, or those that he searches.
// Pure. Must not know how rows are sent.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cmd/common/share_view.hpp"

namespace weir::cmd {

/// What a viewer has open.
struct Opened {
    bool is_all = false;
    std::set<std::string> paths;  ///< accounts whose children he sees
    std::string search;  ///< not empty: the rows whose path has these words, in any case, and what is above them
    friend auto operator<=>(const Opened&, const Opened&) = default;
};

class TreeLevels {
  public:
    /// A tree of at most this many rows is sent whole, whatever is open.
    static constexpr std::size_t whole_max = 2000;
    /// The most rows of one viewer, and the most matches of a search.
    static constexpr std::size_t rows_max = 20'000, matches_max = 500;
    /// With at most this many accounts on top, their children are sent to all viewers.
    static constexpr std::size_t tops_open_max = 20;

    TreeLevels() = default;
    /// Nodes come with parents before their children. O(nodes).
    explicit TreeLevels(const std::vector<ShareNode>& nodes);

    /// Whether this is the index of these nodes. O(nodes).
    bool is_of(const std::vector<ShareNode>& nodes) const;
    /// Places of the rows in the order of the tree. O(rows of the answer); with a search O(nodes).
    std::vector<std::size_t> places(const std::vector<ShareNode>& nodes, const Opened& opened) const;
    /// The row of this path; none: there is none. O(1).
    std::optional<std::size_t> place_of(const std::string& path) const;
    /// A view with these rows alone, each with the number of its children in the whole tree, and of how many they are.
    ShareView rows(const ShareView& view, const std::vector<std::size_t>& places) const;

  private:
    std::vector<std::size_t> found(const std::vector<ShareNode>& nodes, const std::string& search) const;

    static constexpr std::size_t no_parent = SIZE_MAX;
    std::vector<std::string> paths_;
    std::unordered_map<std::string, std::size_t> places_;
    std::vector<std::size_t> roots_, parents_;
    std::vector<std::vector<std::size_t>> children_;
};

}  // namespace weir::cmd
