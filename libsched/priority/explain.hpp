// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the breakdown of one job's priority (raw input, factor, weight, contribution, share of the total), its rank,
// and the jobs just ahead of it with reasons. Must not know users, accounts or output formats. Source: Slurm's sprio.
#pragma once
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libsched/priority/engine.hpp"

namespace weir {

struct Term {
    Factor factor_id;
    double raw = 0.;  ///< seconds waited, fair-share factor, class priority, cores, urgency, site's value, number of
                      ///< types requested
    const char* unit = "";  ///< "s", "factor", "priority", "cores", "urgency", "value", "types"
    double factor = 0.;     ///< in [0, 1] unless settings.is_raw; for resources the weighted sum over the types
    double weight = 0.;
    double contribution = 0.;  ///< weight x factor
    double share = 0.;         ///< part of the sum of contributions, 0 when that is not positive
};

/// One type of the resources term.
struct ResourcePart {
    const char* name;  ///< of the engine's settings
    double amount = 0.;
    double factor = 0.;
    double weight = 0.;
    double contribution = 0.;  ///< times the weight of the term
};

/// Why the sum is not used: held and expedited jobs bypass it, and so do jobs with a given priority.
enum class Bypass : std::uint8_t { none, held, expedited, given };

struct Breakdown {
    std::array<Term, factor_count> terms;  ///< factors and contributions are 0 with Bypass::given
    std::vector<ResourcePart> resources;   ///< by index of PrioritySettings::resources
    double sum = 0.;  ///< before rounding and clamping: (wait + fairshare) + (the others in the order of Factor)
    Bypass bypass = Bypass::none;
    std::uint32_t priority = 0;
    bool is_kept_up = false;  ///< by an earlier pass, above the sum: only_raises
};

/// A job that is ahead of another, and the term with the greatest lead.
struct Ahead {
    PriorityEngine::Slot slot;
    JobId id;
    std::uint32_t priority = 0;
    std::optional<Factor> greatest;  ///< the term with the greatest lead; none: bypass, equal priority, kept up
    double lead = 0.;                ///< that term's lead in priority units
    std::string why;                 ///< one sentence
};

struct Standing {
    std::size_t rank = 0;  ///< 1 is the first in the queue; held-back jobs rank behind the others, and held ones last
    std::size_t of = 0;    ///< number of jobs that count fully, with itself
    std::vector<Ahead> ahead;  ///< the jobs just ahead, nearest first
};

Breakdown breakdown(const PriorityEngine& engine, PriorityEngine::Slot slot, Instant now,
                    std::span<const double> factors);

/// How another pending job counts for the standing of one: not, as a job ahead of it, or also in its rank.
enum class Counts : std::uint8_t { not_at_all, as_ahead, fully };

/// Whether something else than its priority keeps a job from starting, such as a limit: it comes after all others but
/// the held ones.
/// Empty: no job.
using IsHeldBack = std::function<bool(JobId)>;

/// Rank by the queue's order (held back behind the others, priority high to low, submission, id), and up to `limit`
/// jobs just ahead. Without `counts` every job counts fully. O(jobs + limit log limit).
Standing standing(const EngineAt& at, PriorityEngine::Slot slot, std::size_t limit,
                  const std::function<Counts(JobId)>& counts = {}, const IsHeldBack& is_held_back = {});

/// The first `limit` jobs in queue order at `now`. O(jobs + limit log limit).
std::vector<PriorityEngine::Change> in_queue_order(const PriorityEngine& engine, Instant now,
                                                   std::span<const double> factors,
                                                   std::size_t limit = std::numeric_limits<std::size_t>::max(),
                                                   const IsHeldBack& is_held_back = {});

}  // namespace weir
