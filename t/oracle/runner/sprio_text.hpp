// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what sprio prints (-l, -n -l, -w -l), against the engine's numbers. Must not know how they are found.
#pragma once
#include <string>

#include "libsched/priority/explain.hpp"
#include "t/oracle/runner/oracle.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

/// A job in one of its partitions.
struct SprioJob {
    std::string id, partition;
    const Breakdown& got;
    std::int64_t nice = 0;
};

/// The row of `sprio -l`: whole numbers; TRES as far as its 20 letters go. A job without a row fails.
void compare_sprio(Report& report, const std::string& text, const SprioJob& job);
/// The row of `sprio -n -l`: factors, and the priority as a part of 2^32 - 1.
void compare_sprio_normalised(Report& report, const std::string& text, const SprioJob& job);
/// The line of `sprio -w -l`.
void compare_sprio_weights(Report& report, const std::string& text, const Words& conf);

}  // namespace weir::oracle
