// SPDX-License-Identifier: LGPL-3.0-only
// Owns: short ways to write trees and instants in tests.
#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libfairshare/tree/share_tree_builder.hpp"
#include "libfairshare/usage/usage_ledger.hpp"

namespace weir::testing {

/// Paths with shares, in order; the line of each is its place in the list.
using Lines = std::vector<std::pair<std::string, std::int64_t>>;

inline std::vector<NodeSpec> specs(const Lines& lines) {
    std::vector<NodeSpec> made;
    for (const auto& [path, shares] : lines) {
        made.push_back({path, std::nullopt, shares, {static_cast<std::uint32_t>(made.size() + 1), 1}});
    }
    return made;
}

inline ShareTree tree_of(const Lines& lines) {
    auto built = build_share_tree(specs(lines));
    if (auto* diagnostics = std::get_if<Diagnostics>(&built)) {
        FAIL(to_string(*diagnostics));
    }
    return std::get<ShareTree>(std::move(built));
}

inline ShareTreePtr tree_ptr_of(const Lines& lines) {
    return std::make_shared<const ShareTree>(tree_of(lines));
}

inline NodeId at(const ShareTree& tree, std::string_view path) {
    const auto found = tree.find(path);
    if (!found) {
        FAIL("no node " << path);
    }
    return *found;
}

/// Seconds after an arbitrary day in 2026.
inline Instant second(double seconds) {
    return instant_from_seconds(1.78e9 + seconds);
}

inline constexpr Duration week = std::chrono::hours{168};

inline double relative_error(double got, double expected) {
    return expected == 0 ? (got == 0 ? 0 : 1) : std::abs(got / expected - 1);
}

}  // namespace weir::testing
