// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the multifactor priority of every pending job: priority = round(sum of weight x factor), clamped to [1,
// 2^32-2]; held jobs 0, expedited jobs 2^32-1. Flat arrays, 48 bytes a job (without extras), one pass over all of them
// yields what changed. Must not know the share tree: fair-share factors come as an array by association. Slurm's
// priority/multifactor.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "libfairshare/base/strong_id.hpp"
#include "libsched/priority/factors.hpp"

namespace weir {

class PriorityEngine {
  public:
    /// A job's place in the arrays: stays the same until the job is removed, then may be given to another.
    using Slot = StrongId<struct SlotTag, std::uint32_t>;
    struct Change {
        JobId id;
        Slot slot;
        std::uint32_t priority;
    };

    /// REQUIRES: validate(settings).
    explicit PriorityEngine(PrioritySettings settings);

    const PrioritySettings& settings() const { return settings_; }
    const ClassFactors& classes() const { return classes_; }
    /// New settings; the static part of every job is recomputed. With only_raises before and after, earlier results
    /// stay lower bounds. O(jobs).
    void configure(PrioritySettings settings);

    /// Reserves memory for exactly so many jobs.
    void reserve(std::size_t jobs);
    /// Adds a job; the next pass yields it. O(1) amortised.
    Slot insert(const JobInputs& inputs);
    /// New inputs of a job (urgency, queue, size, hold ended...): its priority may fall. O(1).
    void update(Slot slot, const JobInputs& inputs);
    /// The inputs of a job that did not change itself, after a change of the tree or of settings: with only_raises its
    /// priority does not fall, unless it was or is given. O(1).
    void renew(Slot slot, const JobInputs& inputs);
    void remove(Slot slot);
    std::size_t size() const { return live_; }

    /// Computes all priorities at `now` and appends those that differ from the last yielded values, in slot order; they
    /// count as pushed from then on. factors: in [0, 1], by association; an index past the end counts as 0. O(slots),
    /// no allocation but for `changed`.
    void pass(Instant now, std::span<const double> factors, std::vector<Change>& changed);
    /// The same for one job, for an event that concerns it alone. O(1).
    void pass_one(Slot slot, Instant now, std::span<const double> factors, std::vector<Change>& changed);
    /// The yielded value did not arrive (of one job, of all): the next pass yields it again.
    void forget_pushed(Slot slot);
    void forget_pushed();

    bool is_live(Slot slot) const;
    bool was_pushed(Slot slot) const;
    std::uint32_t pushed(Slot slot) const { return pushed_[slot.value]; }
    JobInputs inputs(Slot slot) const;
    /// The priority that a pass at `now` would give. O(1).
    std::uint32_t priority(Slot slot, Instant now, std::span<const double> factors) const;
    /// The same with this factor for the job's association. O(1).
    std::uint32_t priority(Slot slot, Instant now, double factor) const;
    /// Whether the result of an earlier pass is above what the job's sum gives now: only_raises. O(1).
    bool is_kept_up(Slot slot, Instant now, std::span<const double> factors) const;
    /// The same with fine_bits fractional bits: fine_priority() >> fine_bits is priority(). It orders jobs whose sums
    /// differ by less than 1. Two jobs that age alike do not swap in it at each rounding. O(1).
    std::int64_t fine_priority(Slot slot, Instant now, std::span<const double> factors) const;
    static constexpr int fine_bits = 10;
    /// The part of a fine priority that an association's factor gives; 0 of an index past the end. O(1).
    std::int64_t fine_fairshare(std::uint32_t association, std::span<const double> factors) const;
    /// One past the greatest slot in use.
    std::size_t slots() const { return association_.size(); }

  private:
    static constexpr std::uint32_t free_bit = 0x80000000U;
    static constexpr std::uint32_t unpushed_bit = 0x40000000U;
    static constexpr std::uint32_t index_mask = 0x3FFFFFFFU;

    /// An entry of the side table, which is created on demand.
    struct Extra {
        JobExtras given;
        // Of a job with a given priority, whose entries in the pass's arrays say "no wait, no fair share".
        Instant eligible;
        std::uint32_t association = 0;
    };

    double static_part(const JobInputs& job) const;
    void store(std::size_t i, const JobInputs& inputs);
    /// The results of earlier passes no longer bound the job's priority.
    void drop_floor(std::size_t i);
    /// Calls `apply` with each array that has an entry for every slot.
    template <typename Apply>
    void each_column(Apply apply);
    double fairshare_of(std::size_t i, std::span<const double> factors) const;
    /// Appends the slots from `from` on whose priority differs from the pushed one, and marks them as pushed.
    void take_changes(std::size_t from, std::span<const std::uint32_t> priorities, std::vector<Change>& changed);
    std::uint32_t compute(std::size_t i, std::int64_t now_us, double factor) const;
    /// The same, whatever earlier passes gave.
    std::uint32_t compute_afresh(std::size_t i, std::int64_t now_us, double factor) const;

    PrioritySettings settings_;
    ClassFactors classes_;  ///< of settings_
    std::size_t live_ = 0;
    std::vector<std::uint32_t> free_;  ///< free slots

    // Read by every pass, by slot.
    std::vector<std::int64_t> eligible_us_;
    std::vector<double> static_;              ///< the terms from qos on, added in the order of Factor
    std::vector<std::uint32_t> association_;  ///< index, and in the two highest bits: free slot, never pushed
    std::vector<std::uint32_t> pushed_;
    std::vector<std::uint8_t> urgency_;
    std::vector<std::uint32_t> floor_;  ///< with only_raises: the results of the last pass; else empty
    std::vector<double> padded_;        ///< the factors of a pass, and a 0 for jobs without one
    // Read only by explanations and changes.
    std::vector<JobId> id_;
    std::vector<std::int64_t> submit_us_;
    std::vector<std::uint32_t> cores_;
    std::vector<std::uint16_t> queue_;
    std::vector<std::uint8_t> qos_;
    std::vector<Extra> extras_;  ///< empty until a job has any
};

/// The jobs of an engine as they are at `now` with these fair-share factors. Both outlive this.
struct EngineAt {
    const PriorityEngine& engine;
    Instant now;
    std::span<const double> factors;
};

}  // namespace weir
