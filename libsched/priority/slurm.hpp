// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Slurm's terms for the engine's settings (PriorityFlags, PriorityFavorSmall, PriorityWeight...) and the columns
// of `sprio -l`. Must not know: slurm.conf's syntax, the share tree. Source: Slurm priority/multifactor 22.05 and
// 26.11, slurm.conf(5), sprio(1).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libsched/priority/explain.hpp"
#include "libsched/priority/settings.hpp"

namespace weir::slurm {

/// PriorityFlags, grouped by the part that uses them.
struct PriorityFlags {
    // Used by the sum.
    bool no_normal_assoc = false, no_normal_part = false, no_normal_qos = false, no_normal_tres = false;
    bool small_relative_to_time = false;
    bool incr_only = false;
    // Used by the wait, and by the choice of jobs that have a priority.
    bool accrue_always = false;
    bool calculate_running = false;  ///< running jobs stay in the engine and continue to age
    // Used by the fair-share algorithm and the billing.
    bool fair_tree = true;
    bool depth_oblivious = false;
    bool max_tres = false, max_tres_gres = false;
    friend bool operator==(const PriorityFlags&, const PriorityFlags&) = default;
};

/// Reads the value of PriorityFlags as Slurm does: each name counts anywhere in the text, in any case of letters;
/// NO_NORMAL_ALL is the four; DEPTH_OBLIVIOUS and NO_FAIR_TREE turn Fair Tree off. O(text).
PriorityFlags priority_flags(std::string_view text);

/// Slurm's weights, all 0 by default.
struct PriorityWeights {
    double age = 0., assoc = 0., fairshare = 0., job_size = 0., partition = 0., qos = 0.;
};

/// Engine settings that give Slurm's numbers: cut off, up to 2^32-1, nice and site without normalisation. Class
/// priorities, totals, the machine's size and PriorityMaxAge are left to the caller.
PrioritySettings priority_settings(const PriorityFlags& flags, bool favor_small, const PriorityWeights& weights);

struct Column {
    std::string name, value;
};

/// SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES after PRIORITY, as sprio prints them: factors rounded,
/// PRIORITY cut off and at least 1 but, as there, without an upper bound; TRES in full ("cpu=16,mem=333").
/// `nice` is JobExtras::nice.
std::vector<Column> sprio_columns(const Breakdown& parts, std::int64_t nice);

}  // namespace weir::slurm
