// SPDX-License-Identifier: LGPL-3.0-only
// Owns: since when one job ages: what holds, dependencies and begin times do to its wait. Must not know priorities.
// Source: Slurm's accrue time (slurm.conf: ACCRUE_ALWAYS; observed: doc/adr/0096).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "libsched/job.hpp"

namespace weir {

/// Which time counts as wait.
enum class AgeRule : std::uint8_t {
    while_eligible,       ///< the sum of the spans in which the job could have started: a hold stops the clock
    since_eligible,       ///< all since it first could (Slurm): held later, it ages on
    since_last_eligible,  ///< all since it last became able to (Slurm that enforces limits): a hold costs the age
    since_submit,         ///< all (Slurm's ACCRUE_ALWAYS)
};

/// The wait of one job as events tell it, in order of time. All O(1).
class Ageing {
  public:
    Ageing() = default;
    explicit Ageing(AgeRule rule, Instant submit) : rule_(rule) {
        if (rule == AgeRule::since_submit) {
            since_ = submit;
        }
    }
    /// From `at` on the job could start; `at` may be to come (a begin time). Nothing, if it already can.
    void begin(Instant at) {
        if (!since_) {
            since_ = at;
        }
    }
    /// From `at` on it cannot: held, dependent again, running. Nothing, if it already cannot.
    void pause(Instant at) {
        if (!since_ || rule_ == AgeRule::since_eligible || rule_ == AgeRule::since_submit) {
            return;
        }
        aged_ = rule_ == AgeRule::while_eligible ? wait(at) : Duration::zero();
        since_.reset();
    }
    /// All wait is forgotten and counts from `at` on: requeued, or reset by an operator.
    void restart(Instant at) {
        aged_ = Duration::zero();
        since_ = at;
    }
    /// What JobInputs::eligible is to be: the wait at t is t - eligible(), as long as it ages; never: it does not.
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
