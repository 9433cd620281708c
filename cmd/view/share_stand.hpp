// SPDX-License-Identifier: LGPL-3.0-only
// Owns: where an association stands and why, and which of two goes first, as text: job-priority's answers in, lines
// out. Pure.
#pragma once
#include <jansson.h>

#include <string>

#include "cmd/common/terminal.hpp"

namespace weir::cmd {

/// Of job-priority.share-explain: a head line, one row a level, the reason.
std::string share_explain_text(const json_t* answer, const Screen& screen);
/// Of job-priority.share-compare: both, the level at which they part, the reason.
std::string share_compare_text(const json_t* answer, const Screen& screen);

}  // namespace weir::cmd
