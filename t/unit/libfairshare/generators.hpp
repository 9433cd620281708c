// SPDX-License-Identifier: LGPL-3.0-only
// Owns: random trees and usage for properties. Names are numbered, not random: only shape, shares and usage vary.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "t/unit/draws.hpp"
#include "t/unit/libfairshare/support.hpp"

namespace weir::testing {

struct RandomLine {
    std::string path;
    std::int64_t shares;
    CoreMicros usage;  ///< of users; 0 for accounts
};

/// 1 to 40 nodes, up to five deep, numbered downwards, so that a name can follow one that it begins. Small shares and
/// usage, so that ties, zeros and proportional siblings are common.
inline std::vector<RandomLine> random_lines() {
    std::vector<RandomLine> lines;
    std::vector<std::string> accounts{""};
    const int count = draw::in_range(1, 40);
    for (int i = 0; i < count; ++i) {
        const std::string& parent = accounts[draw::in_range<std::size_t>(0, accounts.size())];
        const bool is_user = draw::in_range(0, 3) != 0;
        const std::string path =
            (parent.empty() ? "" : parent + "/") + (is_user ? "@u" : "a") + std::to_string(count - i);
        const std::int64_t shares = draw::in_range(0, 4);
        const auto usage = static_cast<CoreMicros>(draw::in_range(0, 5)) * (draw::in_range(0, 2) == 0 ? 1 : 6);
        lines.push_back({path, shares, is_user ? usage : 0});
        if (!is_user && std::count(path.begin(), path.end(), '/') < 4) {
            accounts.push_back(path);
        }
    }
    return lines;
}

inline ShareTree tree_of_random(const std::vector<RandomLine>& lines) {
    Lines plain;
    for (const RandomLine& line : lines) {
        plain.emplace_back(line.path, line.shares);
    }
    return tree_of(plain);
}

inline std::vector<CoreMicros> usage_of(const ShareTree& tree, const std::vector<RandomLine>& lines) {
    std::vector<CoreMicros> usage(tree.size(), 0);
    for (const RandomLine& line : lines) {
        usage[at(tree, line.path).value] = line.usage;
    }
    for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
        usage[tree.parent(NodeId{i}).value] += usage[i];
    }
    return usage;
}

}  // namespace weir::testing
