// SPDX-License-Identifier: LGPL-3.0-only
// Owns: picture 3: why one job is ahead of another: the terms of both priorities on one axis, and the gap between them
// as whole numbers that add up. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::cmd {

struct JobTerms {
    std::string job, user;
    std::string note;  ///< "first in the queue"
    std::int64_t priority = 0;
    std::vector<std::pair<std::string, double>> terms;  ///< name, points; they may be negative
};

/// What each term adds to the distance from `behind` to `ahead`, greatest first, as whole numbers whose sum is exactly
/// the difference of the priorities. A term "other" takes what the terms do not explain (a bound, a held job); terms of
/// 0 are left out.
std::vector<std::pair<std::string, std::int64_t>> gap_terms(const JobTerms& ahead, const JobTerms& behind);
std::string two_jobs_picture(const JobTerms& ahead, const JobTerms& behind);

}  // namespace weir::cmd
