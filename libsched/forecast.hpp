// SPDX-License-Identifier: LGPL-3.0-only
// Owns: why a pending job waits, in words, and its estimated start, from a copy of the scheduler that is played
// forward. Must not know messages or clocks.
#pragma once
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "libsched/scheduler.hpp"

namespace weir {

/// The start of a job if no other job comes and every job runs to its limit.
struct Forecast {
    std::optional<Instant> start{};
    /// The budget ran out: without `start`, the job does not start before this.
    std::optional<Instant> not_before{};
    /// The job waits, but too far back for the course.
    bool is_too_far_back = false;
};
/// The course of a scheduler from an instant on, if no other job comes and every job runs to its limit. It is computed
/// as far as a question needs it: from one expected end to the next, with a pass at each. It has the first `jobs` of
/// the queue. In a longer queue it leaves out a job further back that would fill a hole. It is a copy of the scheduler
/// with these jobs: O(jobs + running jobs + nodes).
class ForecastCourse {
  public:
    static constexpr std::size_t jobs_max = 2000;

    ForecastCourse(const Scheduler& scheduler, Instant now, std::size_t jobs = jobs_max);
    Instant begin() const { return begin_; }
    /// Whether the job was one of the waiting jobs of the course when it began.
    bool has(JobId id) const { return starts_.count(id.value) != 0 || ahead_.waiting(id) != nullptr; }
    /// Until when it is what a new course would be, if the scheduler does not change: until the first expected end.
    Instant good_until() const { return good_until_; }
    /// `budget` bounds what the passes of this question look at (looked_at()): no pass begins beyond it. The next
    /// question continues from there. A job that never starts has no value: it is held, or needs nodes that are down,
    /// or waits for jobs that never end, or end when the instance does. A job that is not in the course has none
    /// either.
    Forecast of(JobId id, std::uint64_t budget);
    /// What all passes looked at: jobs, nodes, and steps of nodes.
    std::uint64_t looked_at() const {
        return ahead_.counters().considered + ahead_.space().looked_at() - looked_at_before_;
    }

  private:
    struct Ending {
        Instant at;
        JobId id;
        friend bool operator>(const Ending& a, const Ending& b) { return a.at != b.at ? a.at > b.at : a.id > b.id; }
    };
    void advance();

    Scheduler ahead_;
    Instant begin_, at_;
    Instant good_until_ = never;
    std::uint64_t looked_at_before_ = 0;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends_;
    std::unordered_map<std::uint64_t, Instant> starts_;  ///< by job, of those that waited
    bool is_over_ = false;                               ///< nothing ends any more before the instance does
};
/// Of one job, from a course of its own.
Forecast forecast(const Scheduler& scheduler, JobId id, Instant now, std::uint64_t budget,
                  std::size_t jobs = ForecastCourse::jobs_max);

enum class WaitReason : std::uint8_t {
    held,         ///< priority 0
    nodes_down,   ///< too few of the suitable nodes are up
    resources,    ///< the requested resources are not free
    order,        ///< it would fit, but the policy starts no job before `behind`
    reservation,  ///< it would fit, but would delay `behind`
    next_pass,    ///< nothing: the next pass may start it
};
std::string_view name_of(WaitReason reason);

struct Waiting {
    WaitReason reason = WaitReason::resources;
    std::uint64_t place = 0;           ///< in the queue, from 1
    std::optional<JobId> behind;       ///< the first pending job, if that is another one
    std::optional<Instant> behind_at;  ///< its estimated start
    std::string text;                  ///< in words, without job ids and times
};
/// Nothing if the job is not pending. O(jobs before it + nodes).
std::optional<Waiting> why_waiting(const Scheduler& scheduler, JobId id, Instant now);

}  // namespace weir
