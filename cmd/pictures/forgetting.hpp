// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 2: how the usage of each group is forgotten: its past, its entitlement, the forecast, and the time at
// which it meets its entitlement. Pure.
#pragma once
#include <string>
#include <vector>

#include "cmd/pictures/usage_lines.hpp"

namespace weir::cmd {

struct GroupLine {
    std::string name;
    double entitled = 0;  ///< part of the machine
    double used = 0;      ///< part of all decayed usage, now
    UsageLine past;       ///< until now
    UsageLine ahead;      ///< from now on
};

/// Groups drawn at most; further ones are left out.
inline constexpr std::size_t groups_max = 6;
/// A panel each, three in a row, all with the same axes.
std::string forgetting_picture(const std::vector<GroupLine>& groups);

}  // namespace weir::cmd
