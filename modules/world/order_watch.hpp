// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the checks of order: the scheduler has the priorities of its job-manager, a copy has the priority of its job at
// the parent, the job-manager has those that job-priority computes, and no job starts in a partition before a better
// one that waits in the parent. Which of its jobs a scheduler starts is checked by StartOracle. Must not know what
// people and faults do.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "modules/world/submissions.hpp"

namespace weir::world {

class World;
struct Place;

class OrderWatch {
  public:
    explicit OrderWatch(World& world) : world_(world) {}
    /// Every second. What is told is on its way for a while: a difference counts when it stays.
    void look();
    /// A process of this submission begins in the partition.
    void began(const Place& partition, const Submission& submission);

  private:
    enum class Kind : std::uint8_t { scheduler, copy, computed };
    /// Instance, kind, and one or two jobs.
    using Key = std::tuple<std::size_t, Kind, std::uint64_t, std::uint64_t>;
    /// A job that waits for a partition.
    struct Waiting {
        Instant since{};  ///< it is with no child, and may be given to one
        Instant seen{};
        std::array<std::int64_t, 3> priorities{};  ///< of the last three looks, the latest first
        bool is_here = false;
    };
    /// A job that begins.
    struct Starting {
        std::int64_t priority = 0;
        std::array<std::int64_t, 3> before{};  ///< at the last three looks
    };
    using Job = std::pair<std::size_t, std::uint64_t>;

    bool is_calm(const Place& place) const;
    void look_at_scheduler(const Place& place);
    void look_at_copies(const Place& place);
    void look_at_computed(const Place& place);
    void look_at_waiting(const Place& place);
    void stays(const Place& place, const Key& key, const std::string& what);
    bool is_passed(const Place& parent, const Place& partition, const Starting& starting, const Job& job) const;

    World& world_;
    std::map<Key, Instant> since_;
    std::map<Key, Instant> still_;
    std::map<Job, Waiting> waiting_;
    std::map<std::size_t, Instant> held_back_;  ///< when an instance was last seen to hold jobs back
};

}  // namespace weir::world
