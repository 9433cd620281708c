// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which jobs of a partition may start at an instant, computed anew from all that the scheduler was told: the
// waiting jobs in order of priority, the running ones with their expected ends. One node, cores alone. Must not know
// the scheduler that it checks. Source: Lifka 1995 (EASY).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "libsched/job.hpp"

namespace weir::world {

class StartOracle {
  public:
    StartOracle(bool is_easy, std::uint32_t cores) : is_easy_(is_easy), cores_(cores) {}
    struct Wish {
        QueueKey key;
        std::uint32_t cores = 0;
        Duration limit{};
    };
    void ask(const Wish& wish) { wishes_[wish.key.id] = wish; }
    void withdraw(JobId id) { wishes_.erase(id); }
    void prioritize(JobId id, std::uint32_t priority);
    /// It has cores from now on.
    void hold(JobId id, std::uint32_t cores, Instant end) { held_[id] = {cores, end, false}; }
    /// The same of a job that ran when the scheduler began.
    void greet(JobId id, std::uint32_t cores) { held_[id] = {cores, never, true}; }
    void free(JobId id) { held_.erase(id); }
    /// Of the jobs that ran when the scheduler began, these still do.
    void keep_greeted(const std::unordered_set<JobId>& running);
    /// Takes over what started. \return what is wrong with it; empty: nothing.
    std::string check(const std::vector<JobId>& started, Instant now);

  private:
    struct Held {
        std::uint32_t cores = 0;
        Instant end{};
        bool is_greeted = false;
    };
    /// The earliest time at which so many cores are free, and those that are free then besides.
    struct Shadow {
        Instant at{};
        std::uint32_t spare = 0;
        bool is_known = false;
    };
    std::uint32_t free_cores() const;
    Shadow shadow_of(std::uint32_t cores, Instant now) const;
    std::string describe(Instant now) const;
    std::vector<JobId> starts(Instant now);

    bool is_easy_;
    std::uint32_t cores_;
    std::map<JobId, Wish> wishes_;
    std::map<JobId, Held> held_;
};

}  // namespace weir::world
