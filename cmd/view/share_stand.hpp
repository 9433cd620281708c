// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the rank of an association with reasons, or after a job, and the comparison of two, as text: from
// job-priority's answers to lines. Pure.
#pragma once
#include <jansson.h>

#include <string>

#include "cmd/common/terminal.hpp"

namespace weir::cmd {

/// A line that says that the factors in force are not those of this tree; nothing where they are. Of any answer that
/// has `parent_factors`.
std::string parent_factors_text(const json_t* answer);
/// Of job-priority.share-explain: a head line, one row for each level, the reason.
std::string share_explain_text(const json_t* answer, const Screen& screen);
/// Of job-priority.share-after, with the job's `cores` and `seconds`: a head line, and a row each for factor, rank and
/// usage, before and after.
std::string share_after_text(const json_t* answer, const Screen& screen);
/// Of job-priority.share-compare: both, the level at which they differ, the reason.
std::string share_compare_text(const json_t* answer, const Screen& screen);

}  // namespace weir::cmd
