// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 1: the share tree, a bar of used against a tick of entitled at every level. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cmd/pictures/usage_lines.hpp"

namespace weir::cmd {

struct ShareRow {
    std::string path;  ///< "physics/lattice/@alice"
    std::int64_t shares = 0;
    double entitled = 0;      ///< part of the machine
    double used = 0;          ///< part of all decayed usage
    double usage_core_s = 0;  ///< decayed
    UsageLine past;           ///< empty: not known
};

/// "used 1.67× its share": a row in words, for readers who cannot see the bar.
std::string standing_words(double used, double entitled);
/// The places of at most `most` of the rows, in their order: upper levels first, then those with most use or share. An
/// account stands before what is below it. O(n log n).
std::vector<std::size_t> most_telling(const std::vector<ShareRow>& rows, std::size_t most);
/// Rows in the order of the tree. `past_words`: the time that the small lines show, "28d"; empty: they are left out.
std::string share_tree_picture(const std::vector<ShareRow>& rows, const std::string& past_words);

}  // namespace weir::cmd
