// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one partition in a replay: its end of the link, the copies of jobs that it has, and its scheduler. Must not
// know the parent, other partitions, or when messages arrive. It does what ChildRole, job-ingest and the job-manager of
// an instance do, each at once.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libsched/sim/sim_pool.hpp"
#include "modules/job-route/child_link.hpp"

namespace weir::replay {

/// In place of the jobspec: what the job with an id of the parent requests.
using JobLookup = std::function<const SimJob&(route::JobId)>;

class Child {
  public:
    Child(std::int64_t cores, const Policy& policy, JobLookup job_of);

    void take(const std::vector<route::Order>& orders);
    void acked(std::uint64_t seq) { link_.acked(seq); }
    /// The next events for the parent; empty: nothing, or a report is on its way.
    std::vector<route::ChildEvent> report();
    /// Whether an event is unreported, or the answer to a report is outstanding.
    bool is_reporting() const { return link_.unacked() > 0; }

    /// Whether an event requires a pass.
    bool wants_pass() const { return wants_pass_; }
    /// One scheduling pass. \return whether it allocated cores to any job.
    bool pass(Instant now);
    /// The jobs that got `go` since the last call, in this order.
    std::vector<route::JobId> take_started() { return std::exchange(started_, {}); }
    void end(route::JobId id);

    bool has_waiting() const { return !pool_.empty(); }
    std::uint64_t free_cores() const { return pool_.free_cores(); }
    std::uint64_t considered() const { return pool_.considered(); }

  private:
    struct Copy {
        route::LocalId local;
        QueueKey key;
        Instant allocated = never;  ///< never: it waits
    };
    void submit(const route::Order& order);
    void prioritize(const std::vector<route::GivenPriority>& priorities);
    void perform(const route::LocalOp& op);
    void journal(const Copy& copy, route::JournalEvent::Kind kind, const std::string& type = {});

    JobLookup job_of_;
    route::ChildLink link_;
    SimPool<SimCores> pool_;
    std::unordered_map<std::uint64_t, Copy> copies_;  ///< by the parent's id
    std::uint64_t last_local_ = 0;
    std::vector<SimPool<SimCores>::Change> changes_;
    std::vector<route::JobId> started_;
    bool wants_pass_ = false;
};

}  // namespace weir::replay
