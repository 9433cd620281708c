// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one instance in a replay, at any place in the tree: its end of the link to the one above, its copies of jobs,
// its route table where it has partitions, and else its scheduler. It does what job-route, its plugin, job-ingest and
// the job-manager of an instance do, each at once. Must not know other instances, when messages arrive, or what makes
// priorities.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/sim/sim_pool.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/route_table.hpp"
#include "modules/replay/tree_replay.hpp"

namespace weir::replay {

/// What all instances know of a job. It stands for the jobspec.
struct LogJob {
    SimJob job;
    std::uint64_t place = 0;  ///< in the log
    route::JobFacts facts;
};
using LogJobPtr = std::shared_ptr<const LogJob>;

/// An order on its way. `job` is null, except in an order of kind submit.
struct SentOrder {
    route::Order order;
    LogJobPtr job;
};

/// What an instance has on record of a job, for others in the replay.
struct News {
    enum class Kind : std::uint8_t { allocated, started, finished, ended };
    Kind kind = Kind::allocated;
    route::LocalId id;
    LogJobPtr job;
};

class Instance {
  public:
    /// Orders for one of its partitions, by its place.
    using Orders = std::vector<std::pair<std::size_t, std::vector<SentOrder>>>;

    /// \param own  the partition that it is; null: it is the root.
    Instance(const SimTree& tree, const SimPartition* own);

    bool is_leaf() const { return pool_.has_value(); }
    /// Since the last call, in the order of the records.
    std::vector<News> take_news() { return std::exchange(news_, {}); }
    /// REQUIRES: a copy is here.
    const SimJob& job(route::LocalId id) const { return copies_.at(id).job->job; }

    // ---- what comes ----
    /// By the job's user, here. It has no priority yet.
    route::LocalId submit(LogJobPtr job);
    void set_priority(route::LocalId id, std::uint32_t priority);
    /// Orders of the instance above.
    void take(const std::vector<SentOrder>& orders);
    /// \return the highest sequence number taken.
    std::uint64_t take_report(std::size_t partition, std::vector<route::ChildEvent> events);
    void acked(std::uint64_t seq) { link_.acked(seq); }
    /// It counts the seconds up to this instant.
    void count_seconds(Instant now);
    /// The job at this place in the log ends. REQUIRES: a leaf that runs it.
    void end(std::uint64_t place);

    // ---- what it does ----
    /// Plans the hand-down and makes the records for it, until only messages are left to send. Nullopt: there was
    /// nothing to do.
    std::optional<Orders> act();
    /// When time alone moves its jobs.
    Instant next_move() const;
    /// The next events for the instance above; empty: none, or a report is on its way.
    std::vector<route::ChildEvent> report();
    /// Whether an event is unreported, or the answer to a report is outstanding.
    bool is_reporting() const { return link_.unacked() > 0; }

    // ---- of a leaf ----
    bool wants_pass() const { return wants_pass_; }
    bool has_waiting() const { return !pool_->empty(); }
    std::uint64_t free_cores() const { return pool_->free_cores(); }
    std::uint64_t considered() const { return pool_->considered(); }
    /// One scheduling pass. \return whether it allocated cores to any job.
    bool pass(Instant now);

  private:
    struct Copy {
        LogJobPtr job;
        std::uint32_t priority = priority_min;
        bool is_allocated = false;
        Instant allocated{};  ///< of a leaf
    };
    using Copies = std::unordered_map<route::LocalId, Copy>;

    void attach(std::size_t partition, const SimPartition& what);
    route::LocalId add(LogJobPtr job, const route::Order* above);
    void submit(const route::Order& order, LogJobPtr job);
    void prioritize(const std::vector<route::GivenPriority>& priorities);
    void perform(const route::LocalOp& op);
    void fail(Copies::iterator copy, const std::string& type);
    void apply(const route::TapOp& op);
    void note(News::Kind kind, route::LocalId id) { news_.push_back({kind, id, copies_.at(id).job}); }
    void forget(Copies::iterator copy);
    void record(route::LocalId id, const route::JournalEvent& event);
    void record(route::LocalId id, route::JournalEvent::Kind kind, const std::string& type = {});
    void record_alloc(route::LocalId id, std::uint64_t child);
    static QueueKey key_of(const Copy& copy) { return {copy.priority, copy.job->job.submit, JobId{copy.job->place}}; }

    const std::vector<SimPartition>& partitions_;
    std::int64_t way_ = 0;  ///< the seconds of HandDown::set_time_on_the_way()
    route::ChildLink link_;
    route::RouteTable table_;
    std::optional<SimPool<SimCores>> pool_;  ///< of a leaf
    Copies copies_;
    std::unordered_map<std::uint64_t, route::LocalId> here_;  ///< of a leaf, by place in the log
    std::uint64_t last_id_ = 0;
    std::size_t waiting_ = 0;  ///< copies whose allocation is not on record
    Instant second_{};         ///< up to which the route table counted
    std::vector<SimPool<SimCores>::Change> changes_;
    std::vector<News> news_;
    bool wants_pass_ = false;
};

}  // namespace weir::replay
