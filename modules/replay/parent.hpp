// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the parent instance in a replay: the order of its queue, its route table, and the records that the plugin makes
// for it. Must not know the partitions' schedulers, or when messages arrive. It does what ParentRole, the plugin and
// the job-manager do, each at once.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "modules/job-route/route_table.hpp"
#include "modules/replay/tree_replay.hpp"

namespace weir::replay {

/// What the route knows of a job of the log.
route::JobFacts facts_of(const SimTree& tree, const SimJob& job);

class Parent {
  public:
    /// Orders for one partition, by its place.
    using Orders = std::vector<std::pair<std::size_t, std::vector<route::Order>>>;

    Parent(const SimTree& tree, QueueOrder* order);

    /// \param place in the log.
    void submit(const SimJob& job, std::uint64_t place, Instant now);
    /// \return the highest sequence number taken.
    std::uint64_t report(std::size_t partition, std::vector<route::ChildEvent> events, Instant now);
    /// So many seconds have passed.
    void tick(std::int64_t seconds);
    /// The number of seconds after which time alone moves jobs.
    std::optional<std::int64_t> next_move() const { return table_.next_move(); }
    /// Whether events since the last prioritize() require another.
    bool wants_order() const { return wants_order_; }
    /// New priorities, and the first ones of new jobs.
    void prioritize(Instant now);
    /// Plans the hand-down and makes the records for it, until only messages are left to send.
    Orders act(Instant now);

    const SimJob& job(route::JobId id) const { return jobs_.at(id.value).job; }
    std::uint64_t place(route::JobId id) const { return jobs_.at(id.value).place; }
    /// Jobs whose allocation is not on record.
    std::size_t waiting() const { return waiting_.size(); }
    /// The first of them in the log. REQUIRES: waiting() > 0. O(waiting()).
    const SimJob& first_waiting() const;
    /// The least cores that one of them requests. REQUIRES: waiting() > 0.
    std::uint32_t least_cores() const { return waiting_.begin()->first; }
    /// Jobs whose end is on record.
    std::uint64_t ended() const { return ended_; }

  private:
    struct InSystem {
        SimJob job;
        std::uint64_t place = 0;
        std::uint32_t slot = 0;  ///< the id that the order knows
        std::uint32_t priority = priority_min;
    };
    void attach(std::size_t partition, const SimPartition& what);
    std::uint32_t new_slot(route::JobId id);
    void record(route::JobId id, route::JournalEvent event);
    void record(route::JobId id, route::JournalEvent::Kind kind, const std::string& type = {});
    void apply(const route::TapOp& op, Instant now);

    const SimTree& tree_;
    QueueOrder* order_;
    route::RouteTable table_;
    std::int64_t way_ = 0;  ///< the seconds of HandDown::set_time_on_the_way()
    std::unordered_map<std::uint64_t, InSystem> jobs_;
    std::vector<route::JobId> slots_;
    std::vector<std::uint32_t> unused_;  ///< slots without a job
    std::vector<route::JobId> fresh_;    ///< without a priority yet
    std::vector<std::pair<JobId, std::uint32_t>> changed_;
    std::set<std::pair<std::uint32_t, std::uint64_t>> waiting_;  ///< (cores, id)
    std::uint64_t ended_ = 0;
    bool wants_order_ = false;
};

}  // namespace weir::replay
