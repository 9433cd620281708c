// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a machine as a number of equal cores, without nodes: the space of log replays (reference semantics: processors
// are a count). Must not know policies. ResourceSpace gives the same starts for requests that name no nodes.
#pragma once
#include <algorithm>
#include <optional>

#include "libsched/resource/profile.hpp"

namespace weir {

class CountSpace {
  public:
    struct Taken {
        std::int64_t cores;
    };

    explicit CountSpace(std::int64_t cores) : total_(cores), free_(cores) {}
    std::int64_t free() const { return free_; }
    bool full() const { return free_ == 0; }

    std::optional<Taken> start(const PendingJob& job, Instant now) {
        const auto need = static_cast<std::int64_t>(cores_of(job.request));
        if (need > free_) {
            return std::nullopt;
        }
        take(job, need, believed_end(now, job.limit));
        return Taken{need};
    }

    std::optional<Instant> reserve(const PendingJob& job, Instant now) {
        const auto need = static_cast<std::int64_t>(cores_of(job.request));
        const AvailabilityProfile::Fit fit = profile_.earliest(free_, need, now);
        shadow_ = fit.at;
        extra_ = fit.found ? fit.free - need : total_;
        return fit.found && fit.at != never ? std::optional(fit.at) : std::nullopt;
    }

    std::optional<Taken> backfill(const PendingJob& job, Instant now) {
        const auto need = static_cast<std::int64_t>(cores_of(job.request));
        if (need > free_) {
            return std::nullopt;
        }
        const Instant end = believed_end(now, job.limit);
        if (end > shadow_ || end == never) {
            if (need > extra_) {
                return std::nullopt;
            }
            extra_ -= need;
        }
        take(job, need, end);
        return Taken{need};
    }

    /// Gives back what a job took that was believed to end at `end`.
    void release(JobId id, Instant end, std::int64_t cores) {
        profile_.remove(id, end);
        free_ += cores;
    }

  private:
    void take(const PendingJob& job, std::int64_t need, Instant end) {
        free_ -= need;
        profile_.add(job.key.id, end, need);
    }

    std::int64_t total_;
    std::int64_t free_;
    AvailabilityProfile profile_;
    Instant shadow_ = never;  ///< of the last reserve()
    std::int64_t extra_ = 0;  ///< cores that may be held past shadow_
};

}  // namespace weir
