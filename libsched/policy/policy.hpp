// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the set of scheduling policies as values, and the names that configuration and commands give them. Must not
// know how a policy decides.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/policy/backfill.hpp"
#include "libsched/policy/fcfs.hpp"
#include "libsched/policy/kept_reservations.hpp"

namespace weir {

using Easy = Backfill;
using Policy = std::variant<Fcfs, FirstFit, Backfill, KeptReservations>;

/// "fcfs", "easy", "hybrid:depth=8", "easy:backfill=best-fit,metric=proc-seconds": a name, and the settings that differ
/// from its defaults. Names: fcfs, first-fit, easy, easy-sjf, hybrid, conservative, conservative-fw. Settings:
///   first-fit            starve-after=DURATION (24h; 0: no help)
///   easy, hybrid         backfill=first-fit|shortest|best-fit|greedy, metric=procs|seconds|proc-seconds,
///                        reserve-after=DURATION (0), reserve-above=PRIORITY (0)
///   hybrid               depth=N (8) or depth=all
/// DURATION: a number with s, m, h or d. Error: what is unknown, and the nearest name or what would be right.
Result<Policy> policy_named(std::string_view text);
std::vector<std::string_view> policy_names();
/// The shortest text that policy_named() reads as this policy.
std::string name_of(const Policy& policy);

}  // namespace weir
