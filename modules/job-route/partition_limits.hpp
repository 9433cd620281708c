// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the limits of a partition (`limits` of [[partition]]), the counts against them, and the limit that a job would
// exceed. Must not know JSON, queues or children.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace weir::route {

/// Of the jobs that this instance hands to a partition. Each is at least 1.
struct PartitionLimits {
    std::optional<std::int64_t> running_jobs;
    std::optional<std::int64_t> cores;
    std::optional<std::int64_t> user_running_jobs;
    std::optional<std::int64_t> user_cores;

    bool counts_users() const { return user_running_jobs || user_cores; }
    bool is_empty() const { return !running_jobs && !cores && !counts_users(); }
    friend bool operator==(const PartitionLimits&, const PartitionLimits&) = default;
};

/// For people: "2 jobs, 16 cores; a user 1 job, 4 cores"; empty where there are none.
std::string limits_text(const PartitionLimits& limits);

/// A limit that a job would exceed.
struct LimitHit {
    enum class Kind : std::uint8_t { running_jobs, cores, user_running_jobs, user_cores };
    Kind kind = Kind::running_jobs;
    std::int64_t limit = 0;
    std::int64_t count = 0;
    friend bool operator==(const LimitHit&, const LimitHit&) = default;
};

/// Jobs and their cores, in all and by user.
class LimitCounts {
  public:
    struct Held {
        std::int64_t jobs = 0;
        std::int64_t cores = 0;
        friend bool operator==(const Held&, const Held&) = default;
    };
    /// O(log users).
    void add(std::uint32_t user, std::int64_t cores) { change(user, {1, cores}); }
    /// Each has its add().
    void remove(std::uint32_t user, std::int64_t cores) { change(user, {-1, -cores}); }
    /// O(users).
    void add(const LimitCounts& other);
    Held total() const { return total_; }
    Held of(std::uint32_t user) const;
    /// The first limit that one more job of this user, with so many cores, would exceed. O(log users).
    std::optional<LimitHit> hit(const PartitionLimits& limits, std::uint32_t user, std::int64_t cores) const;
    /// What counts against a limit.
    std::int64_t count(LimitHit::Kind kind, std::uint32_t user) const;

  private:
    void change(std::uint32_t user, Held by);

    Held total_;
    std::map<std::uint32_t, Held> users_;  ///< without users who have none
};

/// "runs at most 2 jobs of a user; 2 run", "runs at most 2 jobs; 1 runs, and 1 starts before it". \param running what
/// counts of the jobs that run.
std::string limit_text(const LimitHit& hit, std::int64_t running);

}  // namespace weir::route
