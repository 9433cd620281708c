// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the pictures of a comparison, each an SVG with a text alternative. Pure. Must not know the page.
#pragma once
#include <string>
#include <vector>

#include "cmd/sim/comparison.hpp"

namespace weir::cmd {

struct Picture {
    std::string heading;
    std::string caption;
    std::string svg;
    bool is_of_accounts = false;  ///< the table of accounts belongs below it
};
/// Frontier, share against usage, allotted and delivered, distance from entitlement, waits, utilisation, Gantt; none if
/// no job started.
std::vector<Picture> pictures(const Comparison& comparison);

/// Accounts whose usage over time is drawn.
inline constexpr std::size_t usage_panels_max = 9;

/// The root's children by place, those with the greatest usage first, at most so many.
std::vector<std::size_t> shown_accounts(const Comparison& comparison, std::size_t most);

// One each; the rest of pictures.hpp is their order.
Picture frontier_picture(const Comparison& comparison);
Picture share_picture(const Comparison& comparison);
Picture due_picture(const Comparison& comparison);
Picture distance_picture(const Comparison& comparison);
Picture wait_picture(const Comparison& comparison);
Picture load_picture(const Comparison& comparison);
Picture gantt_picture(const Comparison& comparison);

}  // namespace weir::cmd
