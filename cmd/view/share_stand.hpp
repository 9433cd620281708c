// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rank of an association with reasons, and the comparison of two, as text: from job-priority's answers to
// lines. Pure.
#pragma once
#include <jansson.h>

#include <string>

#include "cmd/common/terminal.hpp"

namespace weir::cmd {

/// Of job-priority.share-explain: a head line, one row for each level, the reason.
std::string share_explain_text(const json_t* answer, const Screen& screen);
/// Of job-priority.share-compare: both, the level at which they differ, the reason.
std::string share_compare_text(const json_t* answer, const Screen& screen);

}  // namespace weir::cmd
