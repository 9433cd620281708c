// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the past and the forecast of usage as the page gets them: picture 2, and lines for the rows of the tree. Pure.
#pragma once
#include <string>

#include "cmd/pictures/instance_report.hpp"

namespace weir::cmd {

/// Picture 2 behind its caption, as HTML text that needs no style.
std::string forgetting_part(const InstanceFacts& facts);
/// Event "past": {since_s, lines: {path: [part of all usage, …]}}, points at equal distances until now, of the rows
/// that matter most. No lines where nothing is known.
std::string past_event(const InstanceFacts& facts);

}  // namespace weir::cmd
