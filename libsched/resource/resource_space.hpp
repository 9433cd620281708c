// SPDX-License-Identifier: LGPL-3.0-only
// Owns: nodes and time together: the free cores, the resources and expected end of every running job, and the
// reservation of a blocked job, node by node. It is the space of the production scheduler. Must not know policies. For
// requests without nodes it starts the same jobs as CountSpace (a property test checks this).
#pragma once
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libsched/resource/node_plan.hpp"
#include "libsched/resource/pool.hpp"
#include "libsched/resource/profile.hpp"
#include "libsched/resource/reservations.hpp"

namespace weir {

class ResourceSpace {
  public:
    struct Taken {
        ResourceSet resources;
        Instant end;  ///< believed; that of a job without a limit is at most the horizon
    };
    using Place = NodePlan::Place;
    struct Running {
        ResourceSet resources;  ///< a node that was given back early stays, with nothing
        Instant end;            ///< believed, by its own limit alone: plans cut it at the horizon
    };

    ResourceSpace() = default;
    explicit ResourceSpace(ResourcePool pool) : pool_(std::move(pool)), plan_(pool_.nodes().size()) {}
    const ResourcePool& pool() const { return pool_; }
    const std::unordered_map<JobId, Running>& running() const { return running_; }
    const AvailabilityProfile& profile() const { return profile_; }
    const NodePlan& plan() const { return plan_; }
    /// Total number of nodes, and steps of nodes and of the profile, that everything here has looked at.
    std::uint64_t looked_at() const { return pool_.looked_at() + plan_.looked_at() + profile_.looked_at(); }

    // The interface for policies; see libsched/policy/pass.hpp.
    Opening opening(Instant now) const;
    std::vector<Bound> bounds() const;
    /// Whether it would fit now without reservations: on nodes the number of cores alone does not decide this.
    bool may_start(const PendingJob& job);
    /// Whether the nodes that are up could run it if they were empty. O(nodes) for the first job with its request.
    bool may_ever_start(const PendingJob& job);
    std::optional<Taken> start(const PendingJob& job, Instant now);
    /// One search in NodePlan, unless the number of cores alone rules it out.
    std::optional<Instant> reserve(const PendingJob& job, Instant now);
    void clear_reservations();
    Reservations<Place>& reservations() { return reservations_; }
    // For policies that keep reservations between passes.
    Place earliest(const PendingJob& job, Instant now);
    void hold(const Place& place, Instant) { plan_.hold(place); }
    void drop(const Place& place, Instant) { plan_.drop(place); }
    /// Allocates a place that was kept and dropped; nothing if it is not all free (a node went down, a job overran its
    /// limit).
    std::optional<Taken> start_at(const PendingJob& job, const Place& place, Instant now);

    /// A job that ran before the scheduler started: exactly these cores until `end`.
    Status claim(JobId id, ResourceSet resources, Instant end);
    /// Frees a part (`final` false; O(its nodes x log nodes)) or the rest of the job's resources. An unknown job is an
    /// error.
    Status release(JobId id, const ResourceSet& part, bool final);
    /// A new expected end; false if the job does not run.
    bool set_end(JobId id, Instant end);
    /// Plans expect no job to run longer than this (an instance's own end). Kept reservations end there, so with a new
    /// one all jobs get new places. O(running jobs).
    void set_horizon(Instant end);
    /// A start as users are told it: none from the horizon on, when nothing runs any more; see expected().
    std::optional<Instant> expected_start(Instant at) const { return at < horizon_ ? expected(at) : std::nullopt; }
    void set_up(const IdSet& ranks, bool up) {
        pool_.set_up(ranks, up);
        reservations_.has_grown = reservations_.has_grown || (up && !ranks.empty());
        fits_empty_.clear();
        changed();
    }
    void shrink(const IdSet& ranks);
    void set_load(std::uint32_t rank, const NodeLoad& load) { pool_.set_load(rank, load); }
    std::uint32_t keep_set(const IdSet& ranks) { return pool_.keep_set(ranks); }
    void drop_set(std::uint32_t number) {
        pool_.drop_set(number);
        if (number > 0) {  // it may belong to another set now
            refused_.clear();
            fits_empty_.clear();
        }
    }

  private:
    /// Anything but a start.
    void changed() {
        reservations_.stand = false;
        refused_.clear();
    }
    bool is_refused(const Request& request, Instant end) const {
        const auto refused = refused_.find(request);
        return refused != refused_.end() && end >= refused->second;
    }
    std::optional<Taken> start_until(const PendingJob& job, Instant now, Instant end);
    std::optional<Taken> backfill(const PendingJob& job, Instant now, Instant end);
    Status release_part(Running& running, const ResourceSet& part);
    Taken take(const PendingJob& job, const std::vector<Pick>& picks, Instant now);
    Instant planned(Instant end) const { return std::min(end, horizon_); }
    void refresh_long_free();
    /// By node, what is free once all has come back that comes by `at`.
    std::vector<Amounts> free_by(Instant at) const;
    /// Nodes by index, without removed nodes.
    std::vector<Pick> picks_of(const ResourceSet& resources) const;
    /// Enters the expected end of a running job.
    void believe(const Running& running);
    void forget(const Running& running);
    /// Enters a reservation that is not the only one, also as cores. `sign` -1: removes it.
    void keep(const Place& place, int sign);
    void remember(const Running& running);

    ResourcePool pool_;
    AvailabilityProfile profile_;  ///< in cores: of running jobs, and of reservations if there are several
    NodePlan plan_;                ///< the same by node, and the reservations that policies keep
    Reservations<Place> reservations_;
    std::unordered_map<JobId, Running> running_;
    /// Requests that did not fit, and until when they would have run. For that duration or a longer one they do not fit
    /// either, as long as only starts and reservations happen. Many pending jobs have equal requests.
    std::map<Request, Instant> refused_;
    std::map<Request, bool> fits_empty_;  ///< of may_ever_start(), until nodes go up or down

    Instant horizon_ = never;
    Instant shadow_ = never;      ///< of the last reserve()
    std::vector<Amounts> extra_;  ///< by node: resources that may be held past shadow_
    // Derived from the free resources and extra_ after every change, by node.
    std::vector<Amounts> long_free_;  ///< free now and free to hold past shadow_
    std::vector<Amounts>
        short_first_;  ///< free now but reserved for the head at shadow_: jobs that end by then use these first
    std::uint64_t long_free_cores_ = 0;  ///< cores of long_free_
};

}  // namespace weir
