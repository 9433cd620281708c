// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the wait of one job, as holds, dependencies and begin times affect it. Must not know priorities. Source:
// Slurm's accrue time (slurm.conf: ACCRUE_ALWAYS; slurmctld as observed).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "libsched/job.hpp"

namespace weir {

/// Which time counts as wait.
enum class AgeRule : std::uint8_t {
    while_eligible,       ///< the sum of the spans in which the job could have started: a hold stops the clock
    since_eligible,       ///< all time since it first could start (Slurm): a later hold does not stop the count
    since_last_eligible,  ///< all time since it last became able to start (Slurm with enforced limits): a hold resets
                          ///< the age
    since_submit,         ///< all time since submission (Slurm's ACCRUE_ALWAYS)
};

/// The wait of one job, from its events in order of time. All functions are O(1).
class Ageing {
  public:
    Ageing() = default;
    explicit Ageing(AgeRule rule, Instant submit) : rule_(rule) {
        if (rule == AgeRule::since_submit) {
            since_ = submit;
        }
    }
    /// From `at` on the job could start; `at` may be in the future (a begin time). No effect if it already can.
    void begin(Instant at) {
        if (!since_) {
            since_ = at;
        }
    }
    /// From `at` on it cannot start: held, dependent again, running. No effect if it already cannot.
    void pause(Instant at) {
        if (!since_ || rule_ == AgeRule::since_eligible || rule_ == AgeRule::since_submit) {
            return;
        }
        aged_ = rule_ == AgeRule::while_eligible ? wait(at) : Duration::zero();
        since_.reset();
    }
    /// Resets the wait, which counts from `at` on: requeued, or reset by an operator.
    void restart(Instant at) {
        aged_ = Duration::zero();
        since_ = at;
    }
    /// The value for JobInputs::eligible: the wait at t is t - eligible() while the job ages; `never` if it does not
    /// age.
    Instant eligible() const { return since_ ? *since_ - aged_ : never; }
    /// Never negative.
    Duration wait(Instant now) const {
        return aged_ + (since_ ? std::max(Duration::zero(), now - *since_) : Duration::zero());
    }
    friend bool operator==(const Ageing&, const Ageing&) = default;

  private:
    AgeRule rule_ = AgeRule::while_eligible;
    Duration aged_{};               ///< spans that are over
    std::optional<Instant> since_;  ///< the present span
};

}  // namespace weir
